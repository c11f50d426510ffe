import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiClient } from './api-client';
import { Refused } from './api-client';

/** The demonstration: a parts counter of our own making, a recorded model, an MCP server, and one question. */

const RECORDING = 'demonstration.json';
const MODEL = 'demonstration';
export const DEMONSTRATION_AGENT = 'parts-clerk';
export const QUESTION =
  'How many ball bearings BRG-6204 should we order today to have enough for 30 working days? They cost 4.20 each.';

/** The command line of the demonstration's MCP server; the only one that the local start allows. */
export const stdioCommand = (root: string): string[] => [
  process.execPath,
  join(root, 'examples/mcp-demo/server.mjs'),
];

const part = { part: { type: 'string', description: 'Part number, e.g. "BRG-6204".' } };
const schema = (properties: object, required: string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const builtin = (name: string) => ({ kind: 'builtin', name });

function toolRows(root: string) {
  const [command, ...args] = stdioCommand(root);
  const mcp = (tool: string) => ({
    kind: 'mcp',
    server: { name: 'parts-stock', transport: 'stdio', command, args },
    tool,
  });
  return [
    {
      name: 'stock_level',
      description: 'Says how many pieces of a part are on the shelf.',
      input_schema: schema(part, ['part']),
      source: mcp('stock_level'),
    },
    {
      name: 'reorder_point',
      description: 'Says at how many pieces a part must be ordered again, and whether that is now.',
      input_schema: schema({ ...part, safety_days: { type: 'integer', minimum: 0, maximum: 90 } }, ['part']),
      source: mcp('reorder_point'),
    },
    {
      name: 'calculate',
      description: 'Works out an arithmetic expression exactly.',
      input_schema: schema({ expression: { type: 'string' } }, ['expression']),
      source: builtin('calculate'),
    },
    {
      name: 'current_time',
      description: 'Says what time it is in a time zone.',
      input_schema: schema({ time_zone: { type: 'string' } }, []),
      source: builtin('current_time'),
    },
  ].map((row) => ({ ...row, effect: 'read', idempotent: true }));
}

/** Creates the demonstration through the public API; what is there already is left as it is. */
export async function seedDemonstration(
  api: ApiClient,
  root: string,
  recordingsFolder: string,
): Promise<void> {
  copyFileSync(join(root, 'deploy/local/demonstration/recording.json'), join(recordingsFolder, RECORDING));
  await ensure(api, '/v1/models', {
    model_id: MODEL,
    label: 'Recorded demonstration',
    tier: 'balanced',
    provider: { kind: 'recorded', recording: RECORDING },
    model: 'demonstration-model',
    context_window: 32_000,
    max_output_tokens: 1_000,
    is_default: true,
  });
  const tools = toolRows(root);
  for (const tool of tools) await ensure(api, '/v1/tools', tool);
  await ensure(api, '/v1/agents', {
    agent_id: DEMONSTRATION_AGENT,
    name: 'Parts clerk',
    description: 'Answers questions about the stock of the parts counter.',
    prompt:
      'You are the clerk of a parts counter. Look things up before you answer, and work out numbers with the calculator.',
    model_id: MODEL,
    tools: tools.map((tool) => tool.name),
    mode: 'ask',
    concurrency: 'unlimited',
    bounds: { max_steps: 10, max_tool_calls: 20, token_budget: 50_000, deadline_seconds: 300 },
  });
}

async function ensure(api: ApiClient, path: string, body: object): Promise<void> {
  try {
    await api.call('POST', path, body);
  } catch (error) {
    if (!(error instanceof Refused) || error.code !== 'already_exists') throw error;
  }
}

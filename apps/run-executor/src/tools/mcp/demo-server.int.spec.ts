import { join, resolve } from 'node:path';
import type { JsonObject, McpServer } from '@runyard/contracts';
import { parseArguments } from '../arguments';
import { createToolRunner } from '../tool-runner';
import type { DiscoveredTool, ToolCall, ToolRunner } from '../types';

jest.setTimeout(120_000);

const root = resolve(__dirname, '../../../../..');
const SERVER: McpServer = {
  name: 'parts-stock',
  transport: 'stdio',
  command: 'node',
  args: [join('examples', 'mcp-demo', 'server.mjs')],
};
let runner: ToolRunner;
let offered: DiscoveredTool[];

beforeAll(async () => {
  runner = createToolRunner({
    secrets: () => undefined,
    recordings: async () => undefined,
    http: { allowedHosts: [], allowPrivate: false },
    mcp: { stdioCommands: ['node examples/mcp-demo/server.mjs'], workingDirectory: root },
    now: Date.now,
    log: { info: () => {}, warn: () => {} },
  });
  const found = await runner.discover('org', SERVER, new AbortController().signal);
  if (!found.ok) throw new Error(found.text);
  offered = found.tools;
});
afterAll(() => runner.close());

/** As a run does it: arguments against the discovered schema, then the call. */
async function ask(name: string, given: JsonObject, key = 'k'): Promise<string> {
  const { description, inputSchema, effect, idempotent } = offered.find((tool) => tool.name === name)!;
  const tool = {
    name,
    description,
    inputSchema,
    effect,
    idempotent,
    source: { kind: 'mcp', server: SERVER, tool: name },
    timeoutMs: 10_000,
    endsRun: false,
  } as const;
  const parsed = parseArguments(JSON.stringify(given), tool);
  if (!parsed.ok) return parsed.text;
  const call: ToolCall = {
    org: 'org',
    runId: 'run',
    conversationId: null,
    callId: 'c1-0',
    ownerId: 'owner',
    tool,
    arguments: parsed.value,
    position: 0,
    idempotencyKey: key,
    signal: new AbortController().signal,
  };
  return (await runner.run(call)).text;
}

it('offers three reading tools and a writing one', () => {
  expect(offered.map(({ name, effect, idempotent }) => [name, effect, idempotent])).toEqual([
    ['list_parts', 'read', true],
    ['stock_level', 'read', true],
    ['reorder_point', 'read', true],
    ['place_order', 'write', true],
  ]);
});

it('answers the same question alike', async () => {
  expect(await ask('stock_level', { part: 'BRG-6204' })).toBe(
    '{"part":"BRG-6204","name":"Ball bearing 6204","on_hand":34}',
  );
  expect(JSON.parse(await ask('reorder_point', { part: 'BRG-6204' }))).toMatchObject({
    reorder_at: 60,
    reorder_now: true,
  });
  expect(JSON.parse(await ask('reorder_point', { part: 'SEAL-42', safety_days: 0 }))).toMatchObject({
    reorder_at: 48,
    reorder_now: false,
  });
  expect(JSON.parse(await ask('list_parts', {}))).toHaveLength(4);
});

it('tells what is wrong', async () => {
  expect(await ask('stock_level', { part: 'X' })).toContain('Known parts: BRG-6204');
  expect(await ask('stock_level', {})).toContain('- /part: required, but missing (string)');
});

it('orders once for one key', async () => {
  const first = await ask('place_order', { part: 'BRG-6204', quantity: 100 }, 'run:c1-0');
  expect(first).toContain('"quantity":100');
  expect(await ask('place_order', { part: 'BRG-6204', quantity: 100 }, 'run:c1-0')).toBe(first);
  expect(await ask('place_order', { part: 'BRG-6204', quantity: 100 }, 'run:c2-0')).not.toBe(first);
});

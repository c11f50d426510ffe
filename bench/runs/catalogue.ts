import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiClient } from '../../deploy/local/api-client';

/** What the benchmark's agents are made of: recorded models and tools, files of the recordings folder. */

const ARGUMENT_BYTES = 200;
const RESULT_BYTES = 1_024;

/** Model turns of the run that is measured; each but the last calls the tool, so that it has 2 × 10 commits. */
export const ITERATIONS = 10;
export const COMMITS = 2 * ITERATIONS;
/** How long the slow model thinks: far longer than a take-over may take. */
export const SLOW_MODEL_MS = 1_500;

export const agentOf = (turns: number): string => `turns-${turns}`;
export const SLOW_AGENT = 'slow';
export const ONCE_AGENT = 'once';

/** Words in no order, always the same: text that compresses about as well as what tools answer. */
const FILLER = words(2_000);
const padded = (text: string, bytes: number): string => `${text} ${FILLER}`.slice(0, bytes);
const argumentsOf = (step: string): string => {
  const start = `{"step":"${step}","note":"`;
  return `${padded(start, ARGUMENT_BYTES - 2)}"}`;
};
const usage = { input: 400, output: 60 };
const recording = (turns: object[]) =>
  JSON.stringify({ format: 'runyard-recording/1', dialogs: [{ turns }] });
const call = (tool: string, args: string) => [{ id: 'call-{step}', tool, arguments: args }];
const answer = { text: padded('Done.', 200), usage };

/** `turns` - 1 calls of the tool, then the answer. */
const loop = (turns: number, delay_ms = 0): string =>
  recording([
    { repeat: turns - 1, tool_calls: call('look_up', argumentsOf('{step}')), usage, delay_ms },
    answer,
  ]);

/** Results by position; enough for the longest run. */
function toolRecording(calls: number): string {
  const one = (_: unknown, index: number) => ({
    tool: 'look_up',
    arguments: JSON.parse(argumentsOf('{step}').replace('{step}', String(index + 1))) as object,
    result: padded(`Result ${index + 1}: `, RESULT_BYTES),
  });
  return JSON.stringify({ format: 'runyard-tool-recording/1', calls: Array.from({ length: calls }, one) });
}

const inputSchema = (properties: object) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
const text = { type: 'string' };

export interface CatalogueSettings {
  folder: string;
  /** Numbers of turns that an agent is made for. */
  turns: readonly number[];
  /** Where the tool that must not be repeated is served. */
  onceUrl: string;
}

/** Creates models, tools and agents through the public API, as an admin would. */
export async function seedCatalogue(
  api: ApiClient,
  { folder, turns, onceUrl }: CatalogueSettings,
): Promise<void> {
  const longest = Math.max(...turns);
  const write = (file: string, content: string) => writeFileSync(join(folder, file), content);
  write('tools.json', toolRecording(longest));
  write('slow.json', loop(3, SLOW_MODEL_MS));
  write('once.json', recording([{ tool_calls: call('pay_once', argumentsOf('{step}')), usage }, answer]));
  for (const each of turns) write(`turns-${each}.json`, loop(each));
  await api.call('POST', '/v1/tools', {
    name: 'look_up',
    description: 'Looks something up.',
    effect: 'read',
    idempotent: true,
    input_schema: inputSchema({ step: text, note: text }),
    source: { kind: 'recorded', recording: 'tools.json' },
  });
  await api.call('POST', '/v1/tools', {
    name: 'pay_once',
    description: 'Must not happen twice.',
    effect: 'write',
    idempotent: false,
    timeout_ms: 60_000,
    input_schema: inputSchema({ step: text, note: text }),
    source: { kind: 'http', method: 'POST', url: onceUrl },
  });
  for (const each of turns) await agent(api, agentOf(each), 'look_up');
  await agent(api, SLOW_AGENT, 'look_up');
  await agent(api, ONCE_AGENT, 'pay_once');
}

async function agent(api: ApiClient, name: string, tool: string): Promise<void> {
  await api.call('POST', '/v1/models', {
    model_id: name,
    label: name,
    tier: 'fast',
    model: name,
    provider: { kind: 'recorded', recording: `${name}.json` },
    context_window: 100_000_000,
    max_output_tokens: 1_000,
  });
  await api.call('POST', '/v1/agents', {
    agent_id: name,
    name,
    prompt: 'You are a benchmark. Call the tool, then answer.',
    model_id: name,
    tools: [tool],
    mode: 'auto',
    // An interrupted effect ends its run instead of asking a person, whom a benchmark has not.
    approval_policy: 'end',
    concurrency: 'unlimited',
    bounds: {
      max_steps: 10_000,
      max_tool_calls: 10_000,
      token_budget: 2_000_000_000,
      deadline_seconds: 86_400,
    },
  });
}

function words(count: number): string {
  const syllables = [
    'ta',
    'ri',
    'mon',
    'del',
    'ka',
    'shu',
    'ver',
    'lo',
    'pin',
    'gra',
    'ent',
    'os',
    'ui',
    'fe',
    'bra',
    'ne',
  ];
  let state = 42;
  const next = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 16) % below;
  };
  const word = () => Array.from({ length: 1 + next(4) }, () => syllables[next(syllables.length)]).join('');
  return Array.from({ length: count }, word).join(' ');
}

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Platform } from '../../deploy/local/platform';
import { Api } from './api';
import { toolRecording } from './source';
import type { Source, ToolSchema } from './source';

/** The tool whose result ends a dialog: it hands the person over. */
const HAND_OFF = 'transfer_to_human_agents';
const WRITES = /^(book|cancel|update|send)_/;
const RECORDING = 'tau-tools.json';

export const AGENT = 'airline';

export interface Surroundings {
  modelUrl: string;
  /** An MCP server that has the tools; undefined: they answer from the recording. */
  toolsUrl: string | undefined;
  mode: 'ask' | 'auto';
}

/** Creates org, model, tools and agent through the public API, as an admin would. */
export async function prepare(
  platform: Platform,
  source: Source,
  { modelUrl, toolsUrl, mode }: Surroundings,
): Promise<Api> {
  mkdirSync(platform.folders.recordings, { recursive: true });
  writeFileSync(join(platform.folders.recordings, RECORDING), JSON.stringify(toolRecording(source.dialogs)));
  const { key } = await platform.createOrg({
    name: 'Airline replay',
    time_zone: 'America/New_York',
    admin: { email: 'admin@example.org', name: 'Admin' },
    key_label: 'replay',
  });
  const api = new Api(platform.apiUrl, key.key);
  await api.call('POST', '/v1/models', {
    model_id: 'recorded-gpt-4o',
    label: 'GPT-4o, recorded',
    tier: 'deep',
    provider: { kind: 'openai-compatible', base_url: modelUrl },
    model: 'gpt-4o',
    context_window: 128_000,
    max_output_tokens: 4_096,
  });
  for (const tool of source.tools)
    await api.call('POST', '/v1/tools', toolRow(tool, toolsUrl, mode === 'ask'));
  await api.call('POST', '/v1/agents', {
    agent_id: AGENT,
    name: 'Airline agent',
    prompt: source.systemPrompt,
    model_id: 'recorded-gpt-4o',
    tools: source.tools.map((tool) => tool.function.name),
    mode,
    concurrency: 'conversation',
    // A lost executor's model call is booked at its worst case; a dialog must not run dry of it.
    bounds: { token_budget: 50_000_000, max_steps: 50, max_tool_calls: 200 },
  });
  return api;
}

const toolRow = ({ function: tool }: ToolSchema, url: string | undefined, asked: boolean) => ({
  name: tool.name,
  description: tool.description,
  input_schema: tool.parameters,
  effect: WRITES.test(tool.name) ? 'write' : 'read',
  // A recorded answer changes nothing, and the live tools know a call by its key: it may be repeated after a crash. A write that
  // needs a decision may not: where nobody knows whether it went out, a person is asked again.
  idempotent: !(asked && WRITES.test(tool.name)),
  source: url
    ? { kind: 'mcp', server: { name: 'airline', transport: 'http', url }, tool: tool.name }
    : { kind: 'recorded', recording: RECORDING },
  ends_run: tool.name === HAND_OFF,
});

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiClient } from '../../deploy/local/api-client';
import { Platform } from '../../deploy/local/platform';
import { throwawayFolder } from '../../deploy/local/throwaway';
import { OutsideWorld } from './outside-world';

const ORG = {
  name: 'Benchmark',
  time_zone: 'UTC',
  key_label: 'benchmark',
  admin: { email: 'admin@example.org', name: 'Admin' },
};
const RECORDING = 'pays.json';
const usage = { input: 400, output: 60 };
const TURNS = [
  { tool_calls: [{ id: 'call-{step}', tool: 'pay', arguments: '{"amount":1}' }], usage },
  { text: 'Done.', usage },
];

/** Runs of it ask before they pay. */
export const ASKS = 'asks';
/** Runs of it wait for their model for ever. */
export const HANGS = 'hangs';

/** The product with both agents, and what is outside of it. */
export interface Setting {
  api: ApiClient;
  outside: OutsideWorld;
  close(): Promise<void>;
}

export async function openSetting(durable: boolean): Promise<Setting> {
  const folder = throwawayFolder('bench-controls');
  const outside = await OutsideWorld.listen();
  const platform = await Platform.start({
    folder,
    durable,
    httpPort: 0,
    opsPort: null,
    logLevel: 'error',
    executor: { http: { allowedHosts: ['127.0.0.1'], allowPrivate: true } },
    ratePerMinute: 1_000_000,
  });
  const { key } = await platform.createOrg(ORG);
  const api = new ApiClient(platform.apiUrl, key.key);
  const recorded = { format: 'runyard-recording/1', dialogs: [{ turns: TURNS }] };
  writeFileSync(join(platform.folders.recordings, RECORDING), JSON.stringify(recorded));
  await seed(api, outside.url);
  const close = async () => {
    await platform.stop();
    outside.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { api, outside, close };
}

async function seed(api: ApiClient, url: string): Promise<void> {
  const input_schema = {
    type: 'object',
    properties: { amount: { type: 'number' } },
    required: ['amount'],
    additionalProperties: false,
  };
  const source = { kind: 'http', method: 'POST', url: `${url}/pay` };
  await api.call('POST', '/v1/tools', {
    name: 'pay',
    description: 'Pays',
    input_schema,
    effect: 'write',
    source,
  });
  const providers = {
    [ASKS]: { kind: 'recorded', recording: RECORDING },
    [HANGS]: { kind: 'openai-compatible', base_url: `${url}/v1` },
  };
  for (const [name, provider] of Object.entries(providers)) {
    const model = { model_id: name, label: name, tier: 'fast', model: 'model', context_window: 8_000 };
    await api.call('POST', '/v1/models', { ...model, provider });
    const agent = { agent_id: name, name, prompt: 'Help.', model_id: name, tools: ['pay'] };
    await api.call('POST', '/v1/agents', { ...agent, mode: 'ask', concurrency: 'unlimited' });
  }
}

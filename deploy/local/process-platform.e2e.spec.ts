import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { connect } from '@nats-io/transport-node';
import { subjectOf } from '@runyard/contracts';
import { eventually, freshDatabase, startNats } from '@runyard/testing';
import { Client } from 'pg';
import { ACCESS, permissionsOf } from '../nats/access';
import { ApiClient, Refused } from './api-client';
import { ProcessPlatform } from './process-platform';
import type { ProcessPlatformOptions } from './process-platform';
import { SERVICES } from './services';
import { throwawayFolder } from './throwaway';

jest.setTimeout(600_000);

const ROOT = join(__dirname, '../..');
const TYPESCRIPT = join(ROOT, 'libs/testing/src/database-child.cjs');
const TURNS = [
  {
    expect: [{ role: 'user', any: true }],
    tool_calls: [{ id: 'a', tool: 'sum', arguments: '{"expression":"6*7"}' }],
    usage: { input: 10, output: 5 },
    delay_ms: 40,
  },
  { expect: [{ role: 'tool', any: true }], text: 'It is 42.', usage: { input: 20, output: 5 }, delay_ms: 40 },
];

/** A product in processes, with an agent `clerk`, and the API as its admin. */
async function product(servers: Pick<ProcessPlatformOptions, 'natsUrl' | 'databaseUrl'> = {}) {
  const folder = throwawayFolder('processes');
  const platform = await ProcessPlatform.start({
    folder,
    durable: false,
    httpPort: 0,
    logLevel: 'warn',
    env: { PATH: process.env.PATH ?? '' },
    settings: { gateway: { RUNYARD_RATE_QUOTA: '100000' } },
    mainOf: (service) => ['-r', TYPESCRIPT, join(ROOT, `apps/${service}/src/main.ts`)],
    ...servers,
  });
  const dialogs = [{ name: 'sum', turns: TURNS }];
  writeFileSync(
    join(platform.folders.recordings, 'sum.json'),
    JSON.stringify({ format: 'runyard-recording/1', model: 'recorded', dialogs }),
  );
  const close = async () => {
    await platform.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const admin = { email: 'ada@example.org', name: 'Ada' };
    const made = await platform.createOrg({ name: 'Org', time_zone: 'UTC', admin, key_label: 'first' });
    const api = new ApiClient(platform.apiUrl, made.key.key);
    await seed(api);
    return { platform, api, key: made.key.key, folder, org: made.org.org_id, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function seed(api: ApiClient): Promise<void> {
  await api.call('POST', '/v1/models', {
    model_id: 'recorded',
    label: 'Recorded',
    tier: 'fast',
    provider: { kind: 'recorded', recording: 'sum.json' },
    model: 'recorded',
    context_window: 8_000,
    is_default: true,
  });
  await api.call('POST', '/v1/tools', {
    name: 'sum',
    description: 'Works out an expression.',
    input_schema: { type: 'object', properties: { expression: { type: 'string' } } },
    effect: 'read',
    idempotent: true,
    source: { kind: 'builtin', name: 'calculate' },
  });
  await api.call('POST', '/v1/agents', {
    agent_id: 'clerk',
    name: 'Clerk',
    prompt: 'Work things out.',
    model_id: 'recorded',
    tools: ['sum'],
    concurrency: 'unlimited',
  });
}

/** Asks for runs until it is told to stop, each until it is accepted; resolves to their ids. */
function asking({ platform, key }: { platform: ProcessPlatform; key: string }) {
  let going = true;
  let accepted = 0;
  const ask = async (name: string): Promise<string> => {
    for (;;) {
      try {
        const answer = await fetch(`${platform.apiUrl}/v1/runs`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${key}`,
            'content-type': 'application/json',
            'idempotency-key': name,
          },
          body: JSON.stringify({ agent_id: 'clerk', input: `What is 6 times 7? (${name})` }),
        });
        if (answer.ok) return ((await answer.json()) as { run_id: string }).run_id;
        // In flight under the same key, or a service that is away: ask again.
        if (answer.status < 500 && answer.status !== 409)
          throw new Refused(answer.status, (await answer.json()) as Record<string, unknown>);
      } catch (error) {
        if (error instanceof Refused) throw error;
      }
      await wait(100);
    }
  };
  const all = (async () => {
    const runs: string[] = [];
    for (let n = 0; going; n++) {
      runs.push(await ask(`key-${n}`));
      accepted++;
      await wait(30);
    }
    return runs;
  })();
  return {
    /** Resolves when so many more have been accepted. */
    more: (count: number, from = accepted) =>
      eventually(() => accepted >= from + count, { withinMs: 120_000 }),
    stop: () => {
      going = false;
      return all;
    },
  };
}

async function expectAllSucceeded(api: ApiClient, runs: readonly string[]): Promise<void> {
  expect(new Set(runs).size).toBe(runs.length);
  for (const runId of runs)
    await eventually(
      async () => {
        const { state, output } = await api.call<{ state: string; output: string }>(
          'GET',
          `/v1/runs/${runId}`,
        );
        expect({ runId, state, output }).toEqual({ runId, state: 'succeeded', output: 'It is 42.' });
        return true;
      },
      { withinMs: 120_000 },
    );
}

describe('every service as a process of its own', () => {
  let it_: Awaited<ReturnType<typeof product>>;
  beforeAll(async () => void (it_ = await product()));
  afterAll(() => it_?.close());

  it('loses no run and makes none twice while each of them is killed', async () => {
    const asked = asking(it_);
    for (const { service } of SERVICES) await it_.platform.crash(service);
    await asked.more(3);
    const runs = await asked.stop();
    await expectAllSucceeded(it_.api, runs);
    for (const [service, { restarts }] of it_.platform.processes)
      expect({ service, restarts }).toEqual({ service, restarts: 1 });
  });

  it('has a user of the bus that may do what its service does, and nothing more', async () => {
    expect(Object.keys(ACCESS).toSorted()).toEqual(SERVICES.map(({ service }) => service).toSorted());
    expect(readFileSync(join(it_.folder, 'nats/nats.log'), 'utf8')).not.toMatch(/violation/i);
    const { natsUrl, busLogin } = it_.platform.stack;
    await expect(connect({ servers: natsUrl, reconnect: false })).rejects.toThrow(/authorization/i);
    const gateway = await connect({ servers: natsUrl, ...busLogin('gateway') });
    const refused = (async () => {
      for await (const status of gateway.status()) if (status.type === 'error') return String(status.error);
      return 'closed';
    })();
    gateway.publish(subjectOf('runs', it_.org, 'run_1'), '[]');
    expect(await refused).toMatch(/permissions violation/i);
    await gateway.close();
  });

  it('lets each context be written by one service alone', () => {
    const writers = new Map<string, string[]>();
    for (const [service, { appends }] of Object.entries(ACCESS))
      for (const context of appends) writers.set(context, [...(writers.get(context) ?? []), service]);
    expect([...writers].filter(([, services]) => services.length > 1)).toEqual([]);
    expect(() => permissionsOf('nobody')).toThrow('has no row');
  });
});

it('goes on when bus and database come back', async () => {
  await using nats = await startNats();
  const database = await freshDatabase();
  const { api, platform, key, close } = await product({ natsUrl: nats.url, databaseUrl: database.ownerUrl });
  try {
    const asked = asking({ platform, key });
    await asked.more(3);
    await nats.kill();
    await wait(1_000);
    await nats.restart();
    await breakConnections(database.ownerUrl);
    await asked.more(3);
    await expectAllSucceeded(api, await asked.stop());
    for (const { restarts } of platform.processes.values()) expect(restarts).toBe(0);
  } finally {
    await close();
    await database.drop();
  }
});

async function breakConnections(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  );
  await client.end();
}

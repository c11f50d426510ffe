import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SlotRow, UpcomingRow } from '@runyard/contracts';
import { eventually, fixedClock, freshDatabase, startNats } from '@runyard/testing';
import type { TestDatabase, TestNats } from '@runyard/testing';
import { ApiClient } from '../../../deploy/local/api-client';
import { Platform } from '../../../deploy/local/platform';
import { throwawayFolder } from '../../../deploy/local/throwaway';

jest.setTimeout(300_000);

interface Shown {
  position: string;
  next_run_at?: string | null;
  created_at: string;
}
interface RunRow {
  run_id: string;
  state: string;
  reason: string | null;
  trigger: string;
  agent_version: number;
  output: string | null;
}

const answer = { expect: [{ role: 'user', any: true }], text: 'done', usage: { input: 10, output: 5 } };
const RECORDING = {
  format: 'runyard-recording/1',
  model: 'recorded-model',
  dialogs: [{ name: 'once', turns: [answer] }],
};

describe('agents that run on time, over the whole product', () => {
  // The rest of the platform lives by the real time, so the scheduler's clock starts there.
  const clock = fixedClock(Date.now());
  const folder = throwawayFolder('schedules');
  let nats: TestNats;
  let db: TestDatabase;
  let platform: Platform;
  let api: ApiClient;

  beforeAll(async () => {
    [nats, db] = await Promise.all([startNats(), freshDatabase()]);
    platform = await Platform.start({
      folder,
      durable: false,
      httpPort: 0,
      opsPort: null,
      logLevel: 'warn',
      databaseUrl: db.ownerUrl,
      natsUrl: nats.url,
      executor: {},
      schedulerClock: () => clock.now(),
    });
    const recordings = platform.folders.recordings;
    writeFileSync(join(recordings, 'once.json'), JSON.stringify(RECORDING));
    const slow = { ...RECORDING, dialogs: [{ name: 'slow', turns: [{ ...answer, delay_ms: 280_000 }] }] };
    writeFileSync(join(recordings, 'slow.json'), JSON.stringify(slow));
    const admin = { email: 'ada@example.org', name: 'Ada' };
    const { key } = (
      await platform.createOrg({ name: 'Org', time_zone: 'Europe/Berlin', admin, key_label: 'first' })
    ).key;
    api = new ApiClient(platform.apiUrl, key);
    for (const name of ['once', 'slow'])
      await api.call('POST', '/v1/models', {
        model_id: name,
        label: name,
        tier: 'fast',
        provider: { kind: 'recorded', recording: `${name}.json` },
        model: 'recorded-model',
        context_window: 8_000,
        is_default: name === 'once',
      });
  });
  afterAll(async () => {
    await platform?.stop();
    await Promise.all([nats?.stop(), db?.drop()]);
    rmSync(folder, { recursive: true, force: true });
  });

  const runsOf = async (agentId: string) =>
    (await api.call<{ data: RunRow[] }>('GET', `/v1/runs?agent_id=${agentId}`)).data;
  const upcoming = (agentId: string) =>
    api.call<UpcomingRow>('GET', `/v1/agents/${agentId}/upcoming?count=2`);
  const create = (agentId: string, more: object) =>
    api.call('POST', '/v1/agents', {
      agent_id: agentId,
      name: agentId,
      prompt: 'Help.',
      schedule: { type: 'interval', every_hours: 24 },
      ...more,
    });
  /** Moves the clock to the agent's next slot. */
  const toNextSlot = async (agentId: string) => {
    const row = await eventually(async () => {
      const found = await upcoming(agentId);
      return found.next_run_at !== null && Date.parse(found.next_run_at) > clock.now() && found;
    });
    clock.set(row.next_run_at ?? '');
  };

  test('`next_run_at` is in every answer about an agent, and null exactly while something keeps it from running', async () => {
    /** With its next slot, which is left out while the scheduler has not read so far. */
    const told = (ask: () => Promise<Shown | undefined>) =>
      eventually(async () => {
        const row = await ask();
        return row?.next_run_at !== undefined && row;
      });
    const get = (position: string) =>
      told(() => api.call<Shown>('GET', `/v1/agents/shown?at_least=${position}`));
    const schedule = { type: 'interval', every_hours: 24 };
    const created = await api.call<Shown>('POST', '/v1/agents', {
      agent_id: 'shown',
      name: 'Shown',
      prompt: 'Help.',
      schedule,
    });
    // As long as the scheduler's clock has not been moved away from the log's time.
    const due = (row: Shown) => Date.parse(row.next_run_at ?? '');
    expect(due(created)).toBe(Date.parse(created.created_at) + 24 * 3_600_000);
    const listed = (position: string) =>
      told(async () => {
        const { data } = await api.call<{ data: Shown[] }>(
          'GET',
          `/v1/agents?search=shown&at_least=${position}`,
        );
        return data[0];
      });
    expect(due(await listed(created.position))).toBe(due(created));
    const changed = async (answer: Promise<Shown>) => {
      const row = await answer;
      return row.next_run_at === undefined ? get(row.position) : row;
    };
    const turn = (word: string) => changed(api.call<Shown>('POST', `/v1/agents/shown/${word}`));
    const edit = (change: object) => changed(api.call<Shown>('PATCH', '/v1/agents/shown', change));
    for (const [close, open] of [
      [() => turn('disable'), () => turn('enable')],
      [() => turn('lock'), () => turn('unlock')],
      [() => edit({ model_id: null }), () => edit({ model_id: 'once' })],
      [() => edit({ schedule: null }), () => edit({ schedule })],
    ] as const) {
      const closed = await close();
      expect(closed.next_run_at).toBeNull();
      expect((await get(closed.position)).next_run_at).toBeNull();
      expect((await listed(closed.position)).next_run_at).toBeNull();
      const opened = await open();
      expect(due(opened)).toBeGreaterThan(due(created));
      expect(due(await get(opened.position))).toBe(due(opened));
    }
    const renamed = await edit({ name: 'Shown again' });
    expect(due(renamed)).toBe(due(await get(renamed.position)));
    const never = { type: 'cron', expression: '0 0 30 2 *', time_zone: 'UTC' };
    await expect(edit({ schedule: never })).rejects.toThrow(/never fires/);
    await expect(create('never', { schedule: never })).rejects.toThrow(/never fires/);
  });

  test('a locked agent has no next slot, and its day passes without a run', async () => {
    await create('locked', {});
    await create('witness', {});
    await eventually(async () => (await upcoming('locked')).next_run_at);
    await api.call('POST', '/v1/agents/locked/lock');
    await eventually(async () => (await upcoming('locked')).next_run_at === null);
    // Both are due about then. The log's own time does not move along: what is opened after it would be due at once.
    await toNextSlot('witness');
    await eventually(async () => (await runsOf('witness'))[0]?.state === 'succeeded');
    expect(await runsOf('locked')).toEqual([]);
    await api.call('POST', '/v1/agents/locked/unlock');
    await eventually(async () => (await upcoming('locked')).next_run_at);
  });

  test('a preview answers before anything is saved', async () => {
    const schedule = { type: 'calendar', cadence: 'daily', time: '02:30' };
    const { data } = await api.call<{ data: SlotRow[] }>('POST', '/v1/schedules/preview', {
      schedule,
      from: '2026-03-28T12:00:00Z',
      count: 1,
    });
    expect(data).toEqual([
      {
        at: '2026-03-29T01:00:00.000Z',
        local: '2026-03-29T03:00:00+02:00',
        time_zone: 'Europe/Berlin',
        mark: 'gap',
      },
    ]);
    const never = { schedule: { type: 'cron', expression: '0 0 30 2 *', time_zone: 'UTC' } };
    await expect(api.call('POST', '/v1/schedules/preview', never)).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });

  test('C07 a slot becomes one run, on the version that is current at that instant (n8n-io/n8n#7045)', async () => {
    await create('on-time', {});
    await eventually(async () => (await upcoming('on-time')).next_run_at);
    await api.call('PATCH', '/v1/agents/on-time', { prompt: 'Help more.' });
    await api.call('PATCH', '/v1/agents/on-time', { prompt: 'Help most.' });
    await toNextSlot('on-time');
    const [run] = await eventually(async () => {
      const runs = await runsOf('on-time');
      return runs[0]?.state === 'succeeded' && runs;
    });
    expect(run).toMatchObject({ trigger: 'scheduled', agent_version: 3 });
    await toNextSlot('on-time');
    await eventually(
      async () => (await runsOf('on-time')).filter(({ state }) => state === 'succeeded').length === 2,
    );
  });

  const outcomes = async (agentId: string) =>
    (await runsOf(agentId)).map(({ state, reason }) => `${state} ${reason ?? ''}`.trim());

  test('skip: a slot that meets an unfinished run leaves a row that says so', async () => {
    await create('skips', { model_id: 'slow' });
    await toNextSlot('skips');
    await eventually(async () => (await outcomes('skips')).join() === 'running');
    await toNextSlot('skips');
    await eventually(async () => (await outcomes('skips')).includes('skipped already_running'));
    expect(await runsOf('skips')).toHaveLength(2);
  });

  test('replace: the running one ends as replaced, and the slot starts when it has ended', async () => {
    await create('replaces', { model_id: 'slow', overlap: 'replace' });
    await toNextSlot('replaces');
    await eventually(async () => (await outcomes('replaces')).join() === 'running');
    await toNextSlot('replaces');
    await eventually(async () => (await outcomes('replaces')).sort().join() === 'cancelled replaced,running');
  });

  test('queue: the slot waits and starts when the running one has ended', async () => {
    await create('queues', { model_id: 'slow', overlap: 'queue' });
    await toNextSlot('queues');
    await eventually(async () => (await outcomes('queues')).join() === 'running');
    await toNextSlot('queues');
    await eventually(async () => (await upcoming('queues')).waiting_since);
    expect(await outcomes('queues')).toEqual(['running']);
    const [run] = await runsOf('queues');
    await api.call('POST', `/v1/runs/${run?.run_id}/cancel`);
    await eventually(async () => (await outcomes('queues')).sort().join() === 'cancelled user,running');
  });
});

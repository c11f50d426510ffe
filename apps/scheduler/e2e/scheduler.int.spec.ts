import type { RunRequest } from '@runyard/contracts';
import { runIdOf, streamSource } from '@runyard/event-log';
import { rebuildAndCompare } from '@runyard/persistence';
import { SCHEDULER_PROJECTIONS } from '../src/projections';
import { DEATHS } from './mortal-scheduler';
import { World } from './world';

jest.setTimeout(120_000);

const DAILY = { type: 'calendar', cadence: 'daily', time: '06:00' } as const;
const HOURLY = { type: 'interval', every_hours: 1 } as const;
const HOUR = 3_600_000;

describe('schedulers', () => {
  let world: World;
  let number = 0;
  let agent: string;
  beforeAll(async () => {
    world = await World.start();
  });
  afterAll(() => world?.stop());
  beforeEach(() => {
    agent = `agent-${++number}`;
    world.cancelled.splice(0);
  });
  afterEach(async () => {
    expect(world.failures).toEqual([]);
    await world.tell(agent, 'AgentDeleted');
    await world.caughtUp();
    await world.pass();
  });

  const at = (text: string) => world.clock.set(`${text}:00Z`);
  const runsOf = (requests: RunRequest[]) => new Set(requests.map(({ key }) => runIdOf(world.org, key)));
  /** Lets what was told reach the rows, then lets a scheduler look. */
  const settle = async () => {
    await world.caughtUp();
    await world.pass();
  };

  test('C07 two schedulers side by side over three days: one request a slot (n8n-io/n8n#7045)', async () => {
    at('2026-12-01T00:00');
    await world.createAgent(agent, HOURLY);
    await world.caughtUp();
    const two = [world.scheduler(), world.scheduler()];
    for (let hour = 0; hour <= 72; hour++) {
      await Promise.all(two.map((scheduler) => scheduler.pass()));
      world.clock.advance(HOUR);
    }
    const requests = await world.requestsOf(agent, 72);
    expect(requests).toHaveLength(72);
    expect(runsOf(requests).size).toBe(72);
    expect(await world.decided(agent)).toHaveLength(72);
  });

  test.each(DEATHS)(
    'C07 a scheduler that dies at every slot (%s) and another one that goes on: one run a slot (n8n-io/n8n#7045)',
    async (death) => {
      at('2026-12-05T00:00');
      await world.createAgent(agent, HOURLY);
      await settle();
      let killed = 0;
      for (let hour = 1; hour <= 12; hour++) {
        world.clock.advance(HOUR);
        if ((await world.pass(death)) === 'killed') killed++;
        await world.pass();
        await world.pass();
      }
      expect(killed).toBe(12);
      const requests = await world.requestsOf(agent, death === 'after request' ? 24 : 12);
      expect(runsOf(requests).size).toBe(12);
      // The same request, so that intake knows it again.
      expect(new Set(requests.map((request) => JSON.stringify(request))).size).toBe(12);
      expect(await world.decided(agent)).toHaveLength(12);
    },
  );

  test('C07 edited twice just before it is due: one request (n8n-io/n8n#7045)', async () => {
    at('2026-12-08T00:00');
    await world.createAgent(agent, DAILY);
    await settle();
    at('2026-12-08T04:59');
    await world.editAgent(agent, DAILY, { name: 'B' });
    await world.editAgent(agent, DAILY, { name: 'C' });
    await settle();
    at('2026-12-08T05:00');
    await Promise.all([world.pass(), world.pass()]);
    expect(await world.requestsOf(agent, 1)).toEqual([
      expect.objectContaining({
        key: `slot:${agent}:2026-12-08T05:00:00.000Z`,
        trigger: 'scheduled',
        requested_by: 'system:scheduler',
      }),
    ]);
  });

  test('C04 weekly over a change of the clocks, restarted on the Sunday: one request a week (celery/celery#1604)', async () => {
    at('2027-10-24T12:00');
    await world.createAgent(agent, { type: 'calendar', cadence: 'weekly', weekday: 0, time: '12:00' });
    await world.caughtUp();
    const steps = 15 * 24;
    let scheduler = world.scheduler();
    for (let hour = 0; hour < steps; hour++) {
      if (hour === 7 * 24) scheduler = world.scheduler();
      await scheduler.pass();
      world.clock.advance(HOUR);
    }
    expect(await world.decided(agent)).toEqual(
      ['2027-10-25T10:00', '2027-11-01T11:00', '2027-11-08T11:00'].map((slot) => `SlotRequested ${slot}`),
    );
  });

  test.each([
    ['Tue 05:00', '2026-12-15T04:00', 1],
    ['Tue 10:00', '2026-12-15T09:00', 0],
  ])(
    'C79 down from Sunday 22:00 to %s: one catch-up run a schedule within a day, the rest on record (temporalio/temporal#4332 (PR))',
    async (_name, back, weekly) => {
      at('2026-12-13T20:00');
      const names = [`${agent}-hours`, `${agent}-daily`, `${agent}-weekly`, agent];
      await world.createAgent(`${agent}-hours`, HOURLY);
      await world.createAgent(`${agent}-daily`, DAILY);
      await world.createAgent(`${agent}-weekly`, {
        type: 'calendar',
        cadence: 'weekly',
        weekday: 0,
        time: '06:00',
      });
      await world.createAgent(agent, { type: 'cron', expression: '* * * * *', time_zone: 'UTC' });
      await world.startRun(`run-${agent}`, `${agent}-daily`);
      await settle();
      at(back);
      await Promise.all([world.pass(), world.pass()]);
      const decided = await Promise.all(names.map((name) => world.decided(name)));
      const requested = decided.map(
        (events) => events.filter((event) => event.startsWith('SlotRequested')).length,
      );
      expect(requested).toEqual([1, 1, weekly, 1]);
      expect(decided[0]?.[0]).toMatch(/^SlotsMissed \d+$/);
      expect(decided[3]?.[0]).toBe('SlotsMissed 1441');
      if (!weekly) expect(decided[2]).toEqual(['SlotsMissed 1']);
      // A second start adds nothing.
      await world.pass();
      expect(await Promise.all(names.map((name) => world.decided(name)))).toEqual(decided);
      for (const name of names.slice(0, 3)) await world.tell(name, 'AgentDeleted');
    },
  );

  test('C79 down for three hours with catch-up `none`: no run makes up for it, the next slot is on time (temporalio/temporal#4332 (PR))', async () => {
    at('2026-12-18T00:00');
    await world.createAgent(agent, HOURLY, { catchUp: 'none' });
    await settle();
    at('2026-12-18T03:20');
    await world.pass();
    expect(await world.decided(agent)).toEqual(['SlotsMissed 2', 'SlotNotRun 2026-12-18T03:00 missed']);
    at('2026-12-18T04:00');
    await world.pass();
    expect((await world.decided(agent)).at(-1)).toBe('SlotRequested 2026-12-18T04:00');
    await world.editAgent(agent, HOURLY, { catchUp: 'latest' });
    await settle();
    at('2026-12-18T07:20');
    await world.pass();
    expect((await world.decided(agent)).at(-1)).toBe('SlotRequested 2026-12-18T07:00');
  });

  test('C79 a clock that jumps ahead and back repeats nothing (temporalio/temporal#4332 (PR))', async () => {
    at('2026-12-20T00:00');
    await world.createAgent(agent, HOURLY);
    await settle();
    for (const time of [
      '2026-12-20T01:00',
      '2026-12-20T02:30',
      '2026-12-20T01:30',
      '2026-12-20T02:10',
      '2026-12-20T03:00',
    ]) {
      at(time);
      await world.pass();
    }
    expect(await world.decided(agent)).toEqual(
      ['01', '02', '03'].map((hour) => `SlotRequested 2026-12-20T${hour}:00`),
    );
  });

  test.each([
    ['AgentDisabled', 'AgentEnabled'],
    ['AgentLocked', 'AgentUnlocked'],
  ])(
    'C79 %s, then %s: slots in between are not missed slots, an interval counts from the opening (temporalio/temporal#4332 (PR))',
    async (close, open) => {
      at('2026-12-22T00:00');
      await world.createAgent(agent, HOURLY);
      await settle();
      await world.tell(agent, close);
      await settle();
      at('2026-12-22T05:30');
      await world.pass();
      await world.tell(agent, open);
      await settle();
      expect(await world.decided(agent)).toEqual([]);
      at('2026-12-22T06:30');
      await world.pass();
      expect(await world.decided(agent)).toEqual(['SlotRequested 2026-12-22T06:30']);
    },
  );

  test('an owner who leaves and returns, a model that is cleared: effective at once', async () => {
    at('2026-12-24T00:00');
    await world.createAgent(agent, HOURLY);
    await settle();
    await world.append('people', `user-${world.owner}`, [
      { type: 'UserDeactivated', data: { userId: world.owner } },
    ]);
    await settle();
    at('2026-12-24T02:15');
    await world.pass();
    await world.append('people', `user-${world.owner}`, [
      { type: 'UserReactivated', data: { userId: world.owner } },
    ]);
    await settle();
    at('2026-12-24T03:15');
    await world.append('agents', agent, [{ type: 'AgentModelCleared', data: { modelId: 'fast' } }]);
    await world.caughtUp();
    await world.pass();
    expect(await world.decided(agent)).toEqual([]);
  });

  test('a change of the owner’s zone moves the next slot', async () => {
    at('2026-12-26T00:00');
    await world.createAgent(agent, DAILY);
    await settle();
    const user = { userId: world.owner, email: 'a@example.org', name: 'Ada', roles: ['member'] };
    const move = (timeZone: string | null) =>
      world.append('people', `user-${world.owner}`, [{ type: 'UserEdited', data: { ...user, timeZone } }]);
    await move('America/New_York');
    await settle();
    at('2026-12-26T05:00');
    await world.pass();
    at('2026-12-26T11:00');
    await world.pass();
    await move(null);
    expect(await world.decided(agent)).toEqual(['SlotRequested 2026-12-26T11:00']);
  });

  test('queue: at most one slot waits, and its request goes out after the holder’s end', async () => {
    at('2027-01-02T00:00');
    await world.createAgent(agent, HOURLY, { overlap: 'queue' });
    await world.startRun(`run-${agent}`, agent);
    await settle();
    for (const time of ['2027-01-02T01:00', '2027-01-02T02:00']) {
      at(time);
      await world.pass();
    }
    expect(world.requests.filter((request) => request.agent_id === agent)).toEqual([]);
    await world.endRun(`run-${agent}`);
    await world.caughtUp();
    expect(await world.pass('after append')).toBe('killed');
    await Promise.all([world.pass(), world.pass()]);
    expect(await world.decided(agent)).toEqual([
      'SlotDeferred 2027-01-02T01:00',
      'SlotNotRun 2027-01-02T01:00 coalesced',
      'SlotDeferred 2027-01-02T02:00',
      'SlotRequested 2027-01-02T02:00',
    ]);
    expect(await world.requestsOf(agent, 1)).toHaveLength(1);
  });

  test('replace: the holder is asked to end, again until it has, then the slot starts', async () => {
    at('2027-01-04T00:00');
    await world.createAgent(agent, HOURLY, { overlap: 'replace' });
    await world.startRun(`run-${agent}`, agent);
    await settle();
    at('2027-01-04T01:00');
    await world.pass();
    await world.pass();
    expect(world.cancelled).toEqual([{ run_id: `run-${agent}`, reason: 'replaced' }]);
    world.clock.advance(11_000);
    await world.pass();
    expect(world.cancelled).toHaveLength(2);
    await world.append('runs', `run-${agent}`, [{ type: 'RunCancelled', data: { reason: 'replaced' } }]);
    await settle();
    expect(await world.decided(agent)).toEqual([
      'SlotDeferred 2027-01-04T01:00',
      'SlotRequested 2027-01-04T01:00',
    ]);
  });

  test('a waiting slot ends when its agent is switched off or deleted', async () => {
    at('2027-01-06T00:00');
    await world.createAgent(agent, HOURLY, { overlap: 'queue' });
    await world.startRun(`run-${agent}`, agent);
    await settle();
    at('2027-01-06T01:00');
    await world.pass();
    await world.tell(agent, 'AgentDisabled');
    await settle();
    await world.endRun(`run-${agent}`);
    await settle();
    expect(await world.decided(agent)).toEqual([
      'SlotDeferred 2027-01-06T01:00',
      'SlotNotRun 2027-01-06T01:00 closed',
    ]);
  });

  test('what is due and not decided for a minute is counted', async () => {
    at('2027-01-08T00:00');
    await world.createAgent(agent, HOURLY);
    await settle();
    at('2027-01-08T01:01');
    expect(await world.scheduler().overdue()).toBe(0);
    world.clock.advance(1);
    expect(await world.scheduler().overdue()).toBe(1);
    await world.pass();
    expect(await world.scheduler().overdue()).toBe(0);
  });

  test.each(SCHEDULER_PROJECTIONS)(
    'rows of $projection.name equal their replay',
    async ({ projection, schema, tables }) => {
      await world.createAgent(agent, DAILY);
      await world.caughtUp();
      const source = streamSource(world.servers.bus.log, projection.stream as 'AGENTS');
      const { tables: compared } = await rebuildAndCompare({
        ownerUrl: world.servers.database.ownerUrl,
        schema,
        tables,
        projection,
        source,
      });
      expect(compared.map(({ table }) => table)).toEqual(tables);
      for (const one of compared) expect(one).toMatchObject({ missing: 0, extra: 0 });
    },
  );
});

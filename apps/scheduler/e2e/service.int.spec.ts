import type { INestApplicationContext } from '@nestjs/common';
import { connect } from '@nats-io/transport-node';
import type { NatsConnection } from '@nats-io/transport-node';
import { slotAnswerSubject } from '@runyard/contracts';
import type { Caller, SlotRow, UpcomingRow } from '@runyard/contracts';
import { METRICS, NatsRpcClient, startService } from '@runyard/service';
import type { Metrics } from '@runyard/service';
import { eventually } from '@runyard/testing';
import { SchedulerModule } from '../src/scheduler.module';
import { World } from './world';

jest.setTimeout(120_000);

const DAILY = { type: 'calendar', cadence: 'daily', time: '06:00' } as const;

describe('the scheduler as a service', () => {
  let world: World;
  let connection: NatsConnection;
  let apps: INestApplicationContext[];
  let owner: Caller;

  beforeAll(async () => {
    world = await World.start({ project: false });
    connection = await connect({ servers: world.servers.nats.url });
    apps = [await start(), await start()];
    owner = { org: world.org, actor: `user:${world.owner}`, userId: world.owner, roles: ['member'] };
  });
  afterAll(async () => {
    await Promise.all((apps ?? []).map((app) => app.close()));
    await connection?.close();
    await world?.stop();
  });

  function start(): Promise<INestApplicationContext> {
    const service = world.servers.config({ rpcConcurrency: 16 });
    return startService(
      SchedulerModule.forRoot({ service, tickMs: 50 }, { processMetrics: false }, () => world.clock.now()),
    );
  }

  const call = <O>(method: string, caller: Caller, input: unknown) =>
    new NatsRpcClient(connection).call<O>('scheduler', method, caller, input);
  const codeOf = (work: Promise<unknown>) =>
    work.then(
      () => 'ok',
      (error: { code: string }) => error.code,
    );

  test('says when an agent runs next: to its owner and to those who see all', async () => {
    world.clock.set('2026-12-01T00:00:00Z');
    const position = await world.createAgent('says-when', DAILY);
    const input = { agent_id: 'says-when', at_least: position, count: 2 };
    const answer = await eventually(async () => {
      const row = await call<UpcomingRow>('schedules.upcoming', owner, input);
      return row.next_run_at && row;
    });
    expect(answer).toMatchObject({
      agent_id: 'says-when',
      next_run_at: '2026-12-01T05:00:00.000Z',
      waiting_since: null,
    });
    expect(answer.slots.map(({ local }) => local)).toEqual([
      '2026-12-01T06:00:00+01:00',
      '2026-12-02T06:00:00+01:00',
    ]);
    const stranger: Caller = { ...owner, actor: 'user:x', userId: '33333333-3333-4333-8333-333333333333' };
    expect(await codeOf(call('schedules.upcoming', stranger, input))).toBe('forbidden');
    expect(await codeOf(call('schedules.upcoming', { ...stranger, roles: ['operator'] }, input))).toBe('ok');
    const elsewhere: Caller = { ...owner, org: '99999999-9999-4999-8999-999999999999' };
    expect(await codeOf(call('schedules.upcoming', elsewhere, { agent_id: 'says-when' }))).toBe('not_found');
    await eventually(async () => {
      const { data } = await call<{ data: unknown[] }>('schedules.list', owner, {});
      expect(data).toEqual([{ agent_id: 'says-when', next_run_at: '2026-12-01T05:00:00.000Z' }]);
      return true;
    });
  });

  test('previews what is not saved, in the caller’s zone', async () => {
    const schedule = { type: 'calendar', cadence: 'weekly', weekday: 6, time: '02:30' };
    const { data } = await call<{ data: SlotRow[] }>('schedules.preview', owner, {
      schedule,
      from: '2026-03-23T00:00:00Z',
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
    const never = { type: 'cron', expression: '0 0 30 2 *', time_zone: 'UTC' };
    expect(await codeOf(call('schedules.preview', owner, { schedule: never }))).toBe('invalid_request');
  });

  test('two services on one database ask for a due slot once, and note that it was refused', async () => {
    world.clock.set('2026-12-03T00:00:00Z');
    await world.createAgent('runs-once', DAILY);
    await eventually(
      async () =>
        (await call<UpcomingRow>('schedules.upcoming', owner, { agent_id: 'runs-once' })).next_run_at,
    );
    world.clock.set('2026-12-03T05:00:00Z');
    expect(await world.requestsOf('runs-once', 1)).toHaveLength(1);
    const slot = Date.parse('2026-12-03T05:00:00Z');
    const refusal = { ok: false, code: 'agent_locked', message: 'An admin has locked it', facts: {} };
    connection.publish(slotAnswerSubject(world.org, 'runs-once', slot), JSON.stringify(refusal));
    await eventually(async () => {
      expect(await world.decided('runs-once')).toEqual([
        'SlotRequested 2026-12-03T05:00',
        'SlotNotRun 2026-12-03T05:00 refused',
      ]);
      return true;
    });
    expect(await world.requestsOf('runs-once', 1)).toHaveLength(1);
    const text = await apps[0]?.get<Metrics>(METRICS, { strict: false }).registry.metrics();
    expect(text).toMatch(/runyard_slots_overdue\{service="scheduler"\} \d/);
  });
});

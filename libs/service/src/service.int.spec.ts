import { Injectable, Module } from '@nestjs/common';
import type { INestApplicationContext } from '@nestjs/common';
import { connect } from '@nats-io/transport-node';
import type { Caller } from '@runyard/contracts';
import { subjectOf } from '@runyard/contracts';
import type { EventLog } from '@runyard/event-log';
import type { Database, Projection } from '@runyard/persistence';
import { eventually, faultyProxy, freshDatabase, startNats } from '@runyard/testing';
import type { FaultyProxy, TestDatabase, TestNats } from '@runyard/testing';
import { startService } from './bootstrap';
import type { ReadyReport } from './health';
import { Loops } from './loops';
import { NatsRpcClient } from './rpc-client';
import { RpcMethod } from './rpc-method';
import { ServiceModule } from './service.module';
import { DATABASE, EVENT_LOG } from './tokens';

jest.setTimeout(300_000);

const ORG = '11111111-1111-4111-8111-111111111111';
const CALLER: Caller = { org: ORG, actor: 'user:u1', userId: 'u1', roles: [] };
/** Within which /ready must turn red: case C83 wants 10 s of a machine that has nothing else to do. */
const RED_WITHIN_MS = 60_000;

let answerNow: (() => void) | undefined;

@Injectable()
class EchoHandlers {
  @RpcMethod('echo.say')
  async say(_caller: Caller, input: unknown): Promise<unknown> {
    return input;
  }

  @RpcMethod('echo.slow')
  async slow(): Promise<string> {
    await new Promise<void>((resolve) => (answerNow = resolve));
    return 'finished';
  }
}

@Module({ providers: [EchoHandlers] })
class EchoModule {}

const counting: Projection = {
  name: 'spec-counting',
  version: 1,
  stream: 'AGENTS',
  apply: async () => undefined,
};

describe('a service', () => {
  let nats: TestNats;
  let database: TestDatabase;
  let bus: FaultyProxy;
  let db: FaultyProxy;
  let app: INestApplicationContext;
  let lost: (error: Error) => void;

  const through = (url: string) => {
    const changed = new URL(url);
    changed.port = new URL(db.url).port;
    return changed.toString();
  };

  beforeAll(async () => {
    nats = await startNats();
    database = await freshDatabase([{ service: 'run-executor', migrations: [] }]);
    bus = await faultyProxy(nats.port);
    db = await faultyProxy(Number(new URL(database.ownerUrl).port));
    app = await start();
  });
  afterAll(async () => {
    await app?.close();
    await Promise.all([bus?.[Symbol.asyncDispose](), db?.[Symbol.asyncDispose]()]);
    await database?.drop();
    await nats?.[Symbol.asyncDispose]();
  });

  /** What /ready said when the service had nearly started. */
  let beforeListening: number | undefined;
  async function start(): Promise<INestApplicationContext> {
    const config = {
      nats: { servers: [bus.url] },
      database: {
        url: through(database.urlFor('run-executor')),
        acrossUrl: through(database.acrossUrlFor('run-executor')),
        poolSize: 3,
      },
      ops: { host: '127.0.0.1', port: 0 },
      logLevel: 'silent' as const,
      rpcConcurrency: 4,
      shutdownMs: 5_000,
    };
    const service = ServiceModule.forRoot({
      name: 'run-executor',
      config,
      projections: [counting],
      archives: ['AGENTS'],
      processMetrics: false,
    });
    const started = await startService(
      { module: EchoModule, imports: [service] },
      { ready: async (starting) => void (beforeListening = (await fetch(url('/ready', starting))).status) },
    );
    started.get(Loops, { strict: false }).start(
      'sweep',
      (signal) =>
        new Promise((resolve, reject) => {
          lost = reject;
          signal.addEventListener('abort', () => resolve());
        }),
    );
    return started;
  }

  const url = (path: string, of = app) =>
    `http://127.0.0.1:${of.get(ServiceModule, { strict: false }).opsPort}${path}`;
  async function ready(): Promise<ReadyReport & { status: number }> {
    const response = await fetch(url('/ready'));
    return { status: response.status, ...((await response.json()) as ReadyReport) };
  }
  const faults = async () => (await ready()).checks.filter(({ ok }) => !ok);
  const green = () =>
    eventually(async () => (await ready()).status === 200, { withinMs: 90_000, everyMs: 200 });
  const red = (part: string, name: string) =>
    eventually(async () => (await faults()).find((fault) => fault.part === part && fault.name === name), {
      withinMs: RED_WITHIN_MS,
      everyMs: 200,
    });

  it('is not ready before what listens last has come', () => {
    expect(beforeListening).toBe(503);
  });

  it('serves the methods that it finds, and shows its parts', async () => {
    const connection = await connect({ servers: nats.url });
    expect(await new NatsRpcClient(connection).call('run-executor', 'echo.say', CALLER, { a: 1 })).toEqual({
      a: 1,
    });
    await connection.close();
    await green();
    expect((await ready()).checks.map(({ part, name }) => `${part} ${name}`).sort()).toEqual([
      'bus nats',
      'db postgres',
      'loops sweep',
      'projectors archive@1 AGENTS',
      'projectors spec-counting@1 AGENTS',
    ]);
    const page = await (await fetch(url('/metrics'))).text();
    expect(page).toMatch(
      /runyard_rpc_seconds_count\{service="run-executor",method="echo.say",outcome="ok"\} 1/,
    );
  });

  it('runs its projections and the archive', async () => {
    const log = app.get<EventLog>(EVENT_LOG, { strict: false });
    const { sequence } = await log.append({
      subject: subjectOf('agents', ORG, 'a'),
      expected: 0,
      events: [{ type: 'AgentDeleted', data: { history: 'keep' } }],
      meta: { actor: 'system:spec', source: 'spec' },
    });
    const across = app.get<Database>(DATABASE, { strict: false });
    await eventually(
      async () =>
        (
          await across.acrossOrgs('spec', (tx) =>
            tx.query('SELECT FROM archive.event_log WHERE sequence = $1', [sequence]),
          )
        ).length === 1,
    );
    const moved = new RegExp(`runyard_projector_position.*spec-counting AGENTS.*} ${sequence}\n`);
    await eventually(async () => moved.test(await (await fetch(url('/metrics'))).text()));
  });

  describe('C83 (decocms/studio#2993)', () => {
    beforeEach(() => green());
    afterEach(async () => {
      bus.heal();
      db.heal();
      // The log moves, so that projectors that wait for something to do show that they work again.
      await eventually(
        async () => {
          const log = app.get<EventLog>(EVENT_LOG, { strict: false });
          const subject = subjectOf('agents', ORG, 'b');
          await log.append({
            subject,
            expected: await log.lastSequence(subject),
            events: [{ type: 'AgentDeleted', data: { history: 'keep' } }],
            meta: { actor: 'system:spec', source: 'spec' },
          });
          return true;
        },
        { withinMs: 30_000, everyMs: 200 },
      );
      await green();
    });
    const alive = async () => (await fetch(url('/live'))).status;

    it('shows that the bus says nothing, stays alive, and recovers by itself', async () => {
      bus.stall();
      expect((await red('bus', 'nats'))?.code).toMatch(/check_timed_out|check_failed|bus_/);
      expect(await alive()).toBe(200);
    });

    it('shows that the database says nothing', async () => {
      db.stall();
      expect((await red('db', 'postgres'))?.code).toMatch(/check_timed_out|check_failed|db_/);
      expect(await alive()).toBe(200);
    });

    it('shows by name that a loop died while the connections stayed', async () => {
      lost(new Error('iterator broke'));
      expect(await red('loops', 'sweep')).toMatchObject({ code: 'loop_died', detail: 'iterator broke' });
      expect((await faults()).map(({ part }) => part)).toEqual(['loops']);
      expect(await alive()).toBe(200);
    });
  });

  it('stops in order: red first, what is in hand is answered, connections go last', async () => {
    const connection = await connect({ servers: nats.url });
    const answer = new NatsRpcClient(connection).call('run-executor', 'echo.slow', CALLER, {});
    const finish = await eventually(() => answerNow);
    const closing = app.close();
    await eventually(async () => (await ready()).code === 'shutting_down');
    finish();
    expect(await answer).toBe('finished');
    await closing;
    await connection.close();
    await expect(fetch(url('/live'))).rejects.toThrow('fetch failed');
    app = await start();
  });
});

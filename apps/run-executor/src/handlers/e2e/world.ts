import { randomUUID } from 'node:crypto';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Caller, IntakeAnswer, NewEvent, RunEvent, RunRequest } from '@runyard/contracts';
import { REPLY_HEADER, requestSubject, runRequestSchema, subjectOf } from '@runyard/contracts';
import type { Context } from '@runyard/contracts';
import { connectEventLog, runIdOf, streamSource } from '@runyard/event-log';
import type { EventLogConnection } from '@runyard/event-log';
import { archiveProjection, runProjection } from '@runyard/persistence';
import type { Database } from '@runyard/persistence';
import { eventually, freshDatabase, startNats } from '@runyard/testing';
import type { TestDatabase, TestNats, TestSchema } from '@runyard/testing';
import { RUN_MIGRATIONS } from '../../migrations';
import { bulkActionsProjection } from '../../projections/bulk-actions.projection';
import { runsProjection } from '../../projections/runs.projection';
import { eventsOf } from '../run-commits';
import { FakeBudgets } from './fake-budgets';
import { ORG, OWNER } from './people';
import { Outside } from './script';
import { seed } from './seed';
import type { Seed } from './seed';
import type { Ground } from './test-executor';

/** Spec-only: servers, a seeded org and its rows; executors join and leave. */

export { ORG, OWNER };
export const CALLER: Caller = { org: ORG, userId: OWNER, actor: `user:${OWNER}`, roles: ['member'] };

export const TERMINAL = ['RunSucceeded', 'RunFailed', 'RunCancelled', 'RunSkipped'];

export interface Setting extends Seed {
  /** Schemas of other services that the spec starts. */
  schemas?: TestSchema[];
  /** A Postgres of the spec's own. */
  postgresUrl?: string;
}

export class World implements AsyncDisposable, Ground {
  readonly outside = new Outside({ model: () => ({ text: 'done' }), tool: () => ({ ok: true, text: 'ok' }) });
  readonly budgets = new FakeBudgets();
  /** Level of what executors log; `error` shows why a driver failed. */
  logLevel = 'silent';
  private readonly stopProjecting = new AbortController();
  private projecting: Promise<unknown> = Promise.resolve();

  private constructor(
    readonly nats: TestNats,
    readonly database: TestDatabase,
    readonly bus: EventLogConnection,
    readonly db: Database,
  ) {}

  static async create(setting: Setting = {}): Promise<World> {
    const { postgresUrl } = setting;
    const nats = await startNats();
    const schemas = [{ service: 'run-executor', migrations: RUN_MIGRATIONS }, ...(setting.schemas ?? [])];
    const database = await freshDatabase(schemas, postgresUrl ? { url: postgresUrl } : {});
    const bus = await connectEventLog({ servers: nats.url, name: 'test' });
    const world = new World(nats, database, bus, database.connect('run-executor'));
    await seed(world, setting);
    world.project();
    return world;
  }

  get connection(): NatsConnection {
    return this.bus.connection;
  }

  /** A request as intake gets it. What is not given: a manual run of `agent`, whose input is its key. */
  requestFor(key: string, body: Partial<RunRequest> = {}): RunRequest {
    const request = {
      key,
      agent_id: 'agent',
      input: key,
      requested_by: `user:${OWNER}`,
      trigger: 'manual',
      ...body,
    };
    return runRequestSchema.parse(request) as RunRequest;
  }

  runId(key: string): string {
    return runIdOf(ORG, key);
  }

  /** Asks for a run over the bus and waits for intake's answer. */
  async request(key: string, body: Partial<RunRequest> = {}, withinMs = 30_000): Promise<IntakeAnswer> {
    const inbox = `_INBOX.test.${randomUUID()}`;
    const reply = this.connection.subscribe(inbox, { max: 1, timeout: withinMs });
    await this.bus.queues.publish(requestSubject(ORG), this.requestFor(key, body), { [REPLY_HEADER]: inbox });
    for await (const message of reply) return message.json<IntakeAnswer>();
    throw new Error('no answer');
  }

  async start(key: string, body: Partial<RunRequest> = {}): Promise<string> {
    const answer = await this.request(key, body);
    if (!answer.ok) throw new Error(`${answer.code}: ${answer.message}`);
    return answer.run_id;
  }

  async events(runId: string): Promise<RunEvent[]> {
    return eventsOf(await this.bus.log.read(subjectOf('runs', ORG, runId)));
  }

  async types(runId: string): Promise<string[]> {
    return (await this.events(runId)).map((event) => event.type);
  }

  /** Type of the last event of a run's log; undefined: it has none. */
  async lastType(runId: string): Promise<string | undefined> {
    const last = await this.bus.log.last(subjectOf('runs', ORG, runId));
    return last && eventsOf([last]).at(-1)?.type;
  }

  /** Waits until an event of a type is in the run's log. */
  async logged(runId: string, type: RunEvent['type'], withinMs = 30_000): Promise<void> {
    await eventually(async () => (await this.types(runId)).includes(type), { withinMs });
  }

  /** Waits for the run's terminal event. */
  ended(runId: string, withinMs = 30_000): Promise<RunEvent> {
    const subject = subjectOf('runs', ORG, runId);
    const look = async () => {
      const last = await this.bus.log.last(subject);
      return last && eventsOf([last]).find((event) => TERMINAL.includes(event.type));
    };
    return eventually(look, { withinMs, everyMs: 30 });
  }

  /** The run's row once it reflects the end of its log. */
  async row(runId: string): Promise<Record<string, unknown>> {
    const sequence = await this.bus.log.lastSequence(subjectOf('runs', ORG, runId));
    return eventually(
      async () => {
        const rows = await this.rows('SELECT * FROM agent_runs WHERE run_id = $1', [runId]);
        return rows.find((row) => Number(row.sequence) >= sequence);
      },
      { withinMs: 30_000 },
    );
  }

  rows(sql: string, params: unknown[] = []): Promise<Record<string, unknown>[]> {
    return this.db.inOrg(ORG, (tx) => tx.query(sql, params));
  }

  async append(context: Context, id: string, events: NewEvent[]): Promise<void> {
    const subject = subjectOf(context, ORG, id);
    const expected = await this.bus.log.lastSequence(subject);
    await this.bus.log.append({ subject, expected, events, meta: { actor: 'system:test', source: 'test' } });
  }

  /** Something to end with the world, so that a failed spec leaves nothing running. */
  readonly guests = new Set<{ leave(): Promise<void> }>();

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.guests].map((guest) => guest.leave()));
    this.stopProjecting.abort();
    await this.projecting;
    await this.bus.close();
    await this.database.drop();
    await this.nats[Symbol.asyncDispose]();
  }

  private project(): void {
    const source = streamSource(this.bus.log, 'RUNS');
    const { signal } = this.stopProjecting;
    this.projecting = Promise.all(
      [archiveProjection('RUNS'), runsProjection(), bulkActionsProjection].map((projection) =>
        runProjection({ db: this.db, source, projection, signal }),
      ),
    );
  }
}

import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { INestApplicationContext } from '@nestjs/common';
import { connect } from '@nats-io/transport-node';
import type { NatsConnection } from '@nats-io/transport-node';
import { REPLY_HEADER, TASK_EVENTS, subjectOf, userAggregate } from '@runyard/contracts';
import type { Caller, Context, NewEvent, Role, RunRequest, TaskEvent } from '@runyard/contracts';
import { VersionConflict, connectEventLog, decodeEvents, runIdOf } from '@runyard/event-log';
import type { EventLogConnection } from '@runyard/event-log';
import { NatsRpcClient, startService } from '@runyard/service';
import type { ServiceConfig } from '@runyard/service';
import { eventually, freshDatabase, startNats, startSpecProcess } from '@runyard/testing';
import type { SpecProcess, TestDatabase, TestNats } from '@runyard/testing';
import { TASKS_MIGRATIONS } from '../src/migrations';
import { TasksModule } from '../src/tasks.module';

const SERVICE = 'tasks';
const META = { actor: 'system:spec', source: 'spec' } as const;
const WATCH_MS = 200;

/** What a run comes to: an output, or an end without one. */
export type RunEnd =
  | { output: string; steps?: number }
  | { failed: string }
  | { skipped: string }
  | { refused: string }
  | 'never';

/** Spec-only: boards on real servers, and runs that end as a spec says. */
export class World {
  readonly org = randomUUID();
  readonly owner = randomUUID();
  /** Requests as they were first taken; one that is sent again is no other. */
  readonly requests: RunRequest[] = [];
  readonly cancelled: string[] = [];
  readonly children = new Set<SpecProcess>();
  runs: (request: RunRequest) => RunEnd = () => ({ output: 'done' });
  private readonly seen = new Set<string>();

  private constructor(
    readonly nats: TestNats,
    readonly database: TestDatabase,
    readonly bus: EventLogConnection,
    private readonly connection: NatsConnection,
    readonly boards: INestApplicationContext[],
  ) {}

  static async start(instances = 1): Promise<World> {
    const services = [{ service: SERVICE, migrations: TASKS_MIGRATIONS }];
    const [nats, database] = await Promise.all([startNats(), freshDatabase(services)]);
    const bus = await connectEventLog({ servers: nats.url, name: 'spec' });
    const world = new World(nats, database, bus, await connect({ servers: nats.url }), []);
    for (let i = 0; i < instances; i++) world.boards.push(await world.board());
    await world.append('agents', 'worker', [
      { type: 'AgentCreated', data: { ownerId: world.owner, behaviour: { tools: [], modelId: null } } },
    ]);
    world.serveCancel();
    await bus.queues.consume({
      queue: 'REQUESTS',
      durable: 'spec',
      concurrency: 1,
      handler: ({ body, headers }) => world.run(JSON.parse(Buffer.from(body).toString('utf8')), headers),
    });
    return world;
  }

  board(): Promise<INestApplicationContext> {
    return startService(TasksModule.forRoot({ service: this.config(), watchMs: WATCH_MS }));
  }

  /** A board in a process of its own, to be killed or paused. */
  async child(): Promise<SpecProcess> {
    const { database, nats } = this;
    const urls = [nats.url, database.urlFor(SERVICE), database.acrossUrlFor(SERVICE), String(WATCH_MS)];
    const child = startSpecProcess(path.join(__dirname, 'board-child.ts'), urls);
    this.children.add(child);
    await child.message((message): message is 'serving' => message === 'serving');
    return child;
  }

  caller(name: string, roles: Role[] = ['service']): Caller {
    return { org: this.org, actor: `service:${name}`, userId: null, roles };
  }
  person(): Caller {
    return { org: this.org, actor: `user:${this.owner}`, userId: this.owner, roles: ['member'] };
  }

  call<Row = Record<string, never>>(method: string, input: object, caller = this.person()): Promise<Row> {
    return new NatsRpcClient(this.connection).call<Row>(SERVICE, `tasks.${method}`, caller, input, {
      timeoutMs: 20_000,
    });
  }

  async task(more: object = {}, caller = this.person()): Promise<string> {
    const { task_id } = await this.call<{ task_id: string }>(
      'create',
      { title: 'T', agent_id: 'worker', ...more },
      caller,
    );
    return task_id;
  }

  async events(taskId: string): Promise<TaskEvent[]> {
    const commits = await this.bus.log.read(subjectOf('tasks', this.org, taskId));
    return commits.flatMap((commit) => decodeEvents(commit, TASK_EVENTS).events as TaskEvent[]);
  }

  async until<Row extends object>(taskId: string, is: (row: Row) => boolean): Promise<Row> {
    return eventually(
      async () => {
        const row = await this.call<Row>('get', { task_id: taskId });
        if (is(row)) return row;
        throw new Error(`Not yet: ${JSON.stringify(row)}`);
      },
      { withinMs: 60_000, everyMs: 50 },
    ) as Promise<Row>;
  }

  /** What the registry tells of people. */
  user(userId: string, event: 'UserDeactivated' | 'UserDeleted'): Promise<void> {
    return this.append('people', userAggregate(userId), [{ type: event, data: { userId } }]);
  }

  requestsOf(taskId: string): RunRequest[] {
    return this.requests.filter(({ requested_by }) => requested_by === `system:${taskId}`);
  }

  async append(context: Context, id: string, events: NewEvent[]): Promise<void> {
    const subject = subjectOf(context, this.org, id);
    // A board may append between the look and the append.
    for (;;) {
      const expected = await this.bus.log.lastSequence(subject);
      try {
        return void (await this.bus.log.append({ subject, expected, events, meta: META }));
      } catch (error) {
        if (!(error instanceof VersionConflict)) throw error;
      }
    }
  }

  async stop(): Promise<void> {
    for (const child of this.children) {
      child.process.kill('SIGCONT');
      await child.kill();
    }
    for (const board of this.boards) await board.close();
    await this.connection.close();
    await this.bus.close();
    await this.database.drop();
    await this.nats[Symbol.asyncDispose]();
  }

  /** The executor's part in a stop: the run ends as cancelled. */
  private serveCancel(): void {
    this.connection.subscribe('runyard.rpc.run-executor.runs.cancel', {
      callback: (_error, message) => {
        const { run_id: runId } = message.json<{ input: { run_id: string } }>().input;
        this.cancelled.push(runId);
        const done = this.append('runs', runId, [{ type: 'RunCancelled', data: { reason: 'user' } }]);
        void done.then(() => message.respond(JSON.stringify({ ok: true, value: {} })));
      },
    });
  }

  /** Intake and executor in one: the same request is the same run, whose end is told at once. */
  private async run(request: RunRequest, headers: Record<string, string>): Promise<void> {
    const runId = runIdOf(this.org, request.key);
    if (this.seen.has(runId)) return;
    this.seen.add(runId);
    this.requests.push(request);
    const end = this.runs(request);
    if (typeof end === 'object' && 'refused' in end) {
      const answer = { ok: false, code: end.refused, message: 'no' };
      return this.connection.publish(headers[REPLY_HEADER] ?? '', JSON.stringify(answer));
    }
    const identity = {
      trigger: request.trigger,
      requestedBy: request.requested_by,
      agentId: request.agent_id,
    };
    if (typeof end === 'object' && 'skipped' in end)
      return this.append('runs', runId, [
        { type: 'RunSkipped', data: { ...identity, reason: end.skipped, holder: 'run_x' } },
      ]);
    await this.append('runs', runId, [{ type: 'RunQueued', data: identity }]);
    if (end === 'never') return;
    await this.append('runs', runId, eventsOf(end));
  }

  private config(): ServiceConfig {
    return {
      nats: { servers: [this.nats.url] },
      database: {
        url: this.database.urlFor(SERVICE),
        acrossUrl: this.database.acrossUrlFor(SERVICE),
        poolSize: 6,
      },
      ops: null,
      logLevel: 'error',
      rpcConcurrency: 64,
      shutdownMs: 5_000,
    };
  }
}

function eventsOf(end: { output: string; steps?: number } | { failed: string }): NewEvent[] {
  if ('failed' in end)
    return [
      {
        type: 'RunFailed',
        data: { termination: 'Error', reason: end.failed, error: { code: 'e', text: 'no' } },
      },
    ];
  const usage = { input: 10, output: 5, cached: 0, estimated: false };
  const turns = Array.from({ length: end.steps ?? 1 }, () => ({
    type: 'ModelTurnCompleted',
    data: { usage },
  }));
  return [...turns, { type: 'RunSucceeded', data: { output: { text: end.output } } }];
}

import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { INestApplicationContext } from '@nestjs/common';
import { TASK_EVENTS, subjectOf, userAggregate } from '@runyard/contracts';
import type { Caller, Context, NewEvent, Role, RunRequest, TaskEvent } from '@runyard/contracts';
import { VersionConflict } from '@runyard/event-log';
import { startService } from '@runyard/service';
import { ServiceServers, eventually, startSpecProcess } from '@runyard/testing';
import type { SpecProcess } from '@runyard/testing';
import { TASKS_MIGRATIONS } from '../src/migrations';
import { TasksModule } from '../src/tasks.module';
import { EndingExecutor } from './ending-executor';

const SERVICE = 'tasks';
const WATCH_MS = 200;

/** Spec-only: boards on real servers, and runs that end as a spec says. */
export class World {
  readonly org = randomUUID();
  readonly owner = randomUUID();
  readonly children = new Set<SpecProcess>();
  readonly boards: INestApplicationContext[] = [];
  readonly executor: EndingExecutor;

  private constructor(readonly servers: ServiceServers) {
    this.executor = new EndingExecutor(servers, this.org, (id, events) => this.append('runs', id, events));
  }

  static async start(instances = 1): Promise<World> {
    const world = new World(await ServiceServers.start({ service: SERVICE, migrations: TASKS_MIGRATIONS }));
    for (let i = 0; i < instances; i++) world.boards.push(await world.board());
    await world.append('agents', 'worker', [
      { type: 'AgentCreated', data: { ownerId: world.owner, behaviour: { tools: [], modelId: null } } },
    ]);
    await world.executor.start();
    return world;
  }

  board(): Promise<INestApplicationContext> {
    const service = this.servers.config({ poolSize: 6, logLevel: 'error', rpcConcurrency: 64 });
    return startService(TasksModule.forRoot({ service, watchMs: WATCH_MS }));
  }

  /** A board in a process of its own, to be killed or paused. */
  async child(): Promise<SpecProcess> {
    const { database, nats } = this.servers;
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
    return this.servers.call<Row>(`tasks.${method}`, caller, input, 20_000);
  }

  async task(more: object = {}, caller = this.person()): Promise<string> {
    const { task_id } = await this.call<{ task_id: string }>(
      'create',
      { title: 'T', agent_id: 'worker', ...more },
      caller,
    );
    return task_id;
  }

  events(taskId: string): Promise<TaskEvent[]> {
    return this.servers.events(subjectOf('tasks', this.org, taskId), TASK_EVENTS);
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
    return this.executor.requests.filter(({ requested_by }) => requested_by === `system:${taskId}`);
  }

  async append(context: Context, id: string, events: NewEvent[]): Promise<void> {
    // A board may append between the look and the append.
    for (;;) {
      try {
        return void (await this.servers.append({ context, org: this.org, id }, events));
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
    await this.servers.stop();
  }
}

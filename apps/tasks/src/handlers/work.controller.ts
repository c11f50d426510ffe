import { Inject, Injectable } from '@nestjs/common';
import {
  Problem,
  startTaskSchema,
  taskActivitySchema,
  taskReadSchema,
  taskRefSchema,
} from '@runyard/contracts';
import type { Caller, TaskActivityRow, TaskRunRow } from '@runyard/contracts';
import type { Database } from '@runyard/persistence';
import { DATABASE, RpcMethod } from '@runyard/service';
import { requireAgent, requireSight, seesAll } from '../domain/rights';
import type { LiveTask } from '../domain/task';
import { listActivity, runsOf, tasksReached } from '../projections/task.queries';
import type { Page } from '../projections/task.queries';
import { WatchQueries } from '../projections/watch.queries';
import { requesting } from './dependencies';
import { RegistryFacts } from './registry.adapter';
import { askerOf, orgOf, parsed } from './requests';
import { Runs } from './runs.adapter';
import { NO_TASK_HERE, TaskReads } from './task-answers';
import type { TaskAnswer } from './task-answers';
import { TasksLog } from './tasks-log.adapter';

/** How long a stop waits for the run's end before it answers that the task is being stopped. */
const CONFIRM_MS = 4_000;

/** RPC `tasks.*`: starting and stopping the work, and what it has come to. */
@Injectable()
export class WorkController {
  constructor(
    @Inject(TasksLog) private readonly tasks: TasksLog,
    @Inject(Runs) private readonly runs: Runs,
    @Inject(RegistryFacts) private readonly registry: RegistryFacts,
    @Inject(TaskReads) private readonly reads: TaskReads,
    @Inject(WatchQueries) private readonly clock: WatchQueries,
    @Inject(DATABASE) private readonly db: Database,
  ) {}

  /** Whoever starts a task must be allowed to start its agent: the run is requested in the task's name. */
  @RpcMethod('tasks.start')
  async start(caller: Caller, body: unknown): Promise<TaskAnswer> {
    const { task_id: taskId, note = null } = parsed(startTaskSchema, body);
    const [org, asker] = [orgOf(caller), askerOf(caller)];
    const task = await this.live(org, taskId);
    requireSight(asker, task.userId);
    const agent = await this.registry.agent(org, task.details.agentId);
    if (!agent)
      throw new Problem('conflict', "The task's agent does not exist any more; give it another one");
    requireAgent(asker, agent.ownerId);
    const needed = await requesting(this.tasks, org, taskId, task);
    const command = { type: 'StartTask', asker, note, ...needed, now: await this.clock.now(org) } as const;
    const { position } = await this.tasks.act(org, taskId, command, caller);
    return this.reads.asOf(org, asker, taskId, position);
  }

  /** Cancels the run that is under way and answers when the task is stopped, or, after a while, that it will be. */
  @RpcMethod('tasks.stop')
  async stop(caller: Caller, body: unknown): Promise<TaskAnswer> {
    const { task_id: taskId } = parsed(taskRefSchema, body);
    const [org, asker] = [orgOf(caller), askerOf(caller)];
    const { state, position } = await this.tasks.act(org, taskId, { type: 'StopTask', asker }, caller);
    if (state.situation === 'live' && state.stopping && state.active) {
      const stopped = this.stopped(org, taskId);
      await this.runs.cancel(org, state.active.runId);
      return this.reads.asOf(org, asker, taskId, (await stopped) ?? position);
    }
    return this.reads.asOf(org, asker, taskId, position);
  }

  @RpcMethod('tasks.runs')
  async runsOfTask(caller: Caller, body: unknown): Promise<{ data: TaskRunRow[] }> {
    const { task_id: taskId, at_least: atLeast } = parsed(taskReadSchema, body);
    const org = orgOf(caller);
    if (atLeast !== undefined) await tasksReached(this.db, atLeast);
    await this.reads.task(org, askerOf(caller), taskId);
    return { data: await this.db.inOrg(org, (tx) => runsOf(tx, taskId)) };
  }

  /** What happened on the board, newest first. */
  @RpcMethod('tasks.activity')
  async activity(caller: Caller, body: unknown): Promise<Page<TaskActivityRow>> {
    const { at_least: atLeast, ...filter } = parsed(taskActivitySchema, body);
    const asker = askerOf(caller);
    if (!seesAll(asker) && asker.userId === null)
      throw new Problem('forbidden', 'The credential stands for nobody who has tasks');
    if (atLeast !== undefined) await tasksReached(this.db, atLeast);
    const user_id = seesAll(asker) ? undefined : (asker.userId ?? undefined);
    return this.db.inOrg(orgOf(caller), (tx) => listActivity(tx, { ...filter, user_id }));
  }

  /** Position at which the task was no longer running; undefined where it still is after a while. */
  private async stopped(org: string, taskId: string): Promise<string | undefined> {
    let wake: () => void = () => undefined;
    const unsubscribe = this.tasks.onAppend(org, taskId, () => wake());
    const end = Date.now() + CONFIRM_MS;
    try {
      for (;;) {
        const woken = new Promise<void>((resolve) => (wake = resolve));
        const { task, position } = await this.tasks.readAt(org, taskId);
        if (task.situation !== 'live' || task.status !== 'running') return position;
        const left = end - Date.now();
        if (left <= 0) return undefined;
        await Promise.race([woken, after(Math.min(left, LOOK_MS))]);
      }
    } finally {
      unsubscribe();
    }
  }

  private async live(org: string, taskId: string): Promise<LiveTask> {
    const task = await this.tasks.read(org, taskId);
    if (task.situation !== 'live') throw new Problem('not_found', NO_TASK_HERE);
    return task;
  }
}

/** A wake-up may be lost. */
const LOOK_MS = 500;

const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

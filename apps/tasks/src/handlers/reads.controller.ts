import { Inject, Injectable } from '@nestjs/common';
import { Problem, listTasksSchema, taskGetSchema } from '@runyard/contracts';
import type { Caller, TaskStepRow } from '@runyard/contracts';
import type { Database } from '@runyard/persistence';
import { DATABASE, RpcMethod } from '@runyard/service';
import { seesAll } from '../domain/rights';
import { boardAsOf } from '../projections/board-as-of.queries';
import { listTasks, stepsOf, tasksReached } from '../projections/task.queries';
import type { Page } from '../projections/task.queries';
import { askerOf, orgOf, parsed } from './requests';
import { TaskReads } from './task-answers';
import type { TaskAnswer } from './task-answers';

/** RPC `tasks.get`, `tasks.steps` and `tasks.list`: the board as it is, or as it was. */
@Injectable()
export class ReadsController {
  constructor(
    @Inject(TaskReads) private readonly reads: TaskReads,
    @Inject(DATABASE) private readonly db: Database,
  ) {}

  @RpcMethod('tasks.get')
  async get(caller: Caller, body: unknown): Promise<TaskAnswer> {
    const { task_id: taskId, at_least: atLeast, as_of: asOf } = parsed(taskGetSchema, body);
    const [org, asker] = [orgOf(caller), askerOf(caller)];
    if (asOf !== undefined) return (await this.reads.past(org, asker, taskId, asOf)).task;
    if (atLeast !== undefined) await tasksReached(this.db, atLeast);
    return this.reads.task(org, asker, taskId);
  }

  @RpcMethod('tasks.steps')
  async steps(caller: Caller, body: unknown): Promise<{ data: TaskStepRow[] }> {
    const { task_id: taskId, as_of: asOf } = parsed(taskGetSchema, body);
    const org = orgOf(caller);
    if (asOf !== undefined)
      return { data: (await this.reads.past(org, askerOf(caller), taskId, asOf)).steps };
    await this.get(caller, body);
    return { data: await this.db.inOrg(org, (tx) => stepsOf(tx, taskId)) };
  }

  @RpcMethod('tasks.list')
  async list(caller: Caller, body: unknown): Promise<Page<object>> {
    const { at_least: atLeast, as_of: asOf, ...filter } = parsed(listTasksSchema, body);
    const [org, asker] = [orgOf(caller), askerOf(caller)];
    if (!seesAll(asker) && asker.userId === null)
      throw new Problem('forbidden', 'The credential stands for nobody who has tasks');
    const user_id = seesAll(asker) ? filter.user_id : (asker.userId ?? undefined);
    if (atLeast !== undefined) await tasksReached(this.db, atLeast);
    const { data, next_cursor } =
      asOf === undefined
        ? await this.db.inOrg(org, (tx) => listTasks(tx, { ...filter, user_id }))
        : await boardAsOf(this.db, { org, asOf }, { ...filter, user_id });
    const rows = await this.reads.withModels(org, data);
    return { data: rows.map(({ report_digest: _digest, ...row }) => row), next_cursor };
  }
}

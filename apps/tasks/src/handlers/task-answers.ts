import { Problem } from '@runyard/contracts';
import type { DependencyRow, TaskLockRow, TaskRow, TaskStepRow } from '@runyard/contracts';
import type { Blobs, Database } from '@runyard/persistence';
import type { Asker } from '../domain/rights';
import { requireSight } from '../domain/rights';
import type { LiveTask } from '../domain/task';
import { taskAsOf } from '../projections/board-as-of.queries';
import { dependenciesOf, findTask, tasksReached } from '../projections/task.queries';
import type { StoredTask } from '../projections/task.queries';
import type { RegistryFacts } from './registry.adapter';

export const NO_TASK_HERE = 'There is no such task';

/** A task as it is answered: with its dependencies, its model's route and its report whole. */
export type TaskAnswer = TaskRow & {
  dependencies: DependencyRow[];
  /** Where the task's own model leads; null: the agent's model, or one that is no longer allowed. */
  provider: string | null;
  model: string | null;
};

/** Reads tasks for answers. */
export class TaskReads {
  constructor(
    private readonly db: Database,
    private readonly registry: RegistryFacts,
    private readonly blobs: Blobs,
  ) {}

  /** Throws `not_found`, or `forbidden` where it is somebody else's. */
  async task(org: string, asker: Asker, taskId: string): Promise<TaskAnswer> {
    const found = await this.db.inOrg(org, async (tx) => {
      const task = await findTask(tx, taskId);
      return task && { task, dependencies: await dependenciesOf(tx, task.blocked_by) };
    });
    if (!found) throw new Problem('not_found', NO_TASK_HERE);
    requireSight(asker, found.task.user_id);
    return this.answer(org, found);
  }

  /**
   * A task and its plan as of an earlier moment, also where it was deleted since. Whoever may not see it now may not see
   * what it was. Throws like {@link task}.
   */
  async past(
    org: string,
    asker: Asker,
    taskId: string,
    asOf: string,
  ): Promise<{ task: TaskAnswer; steps: TaskStepRow[] }> {
    const found = await taskAsOf(this.db, { org, asOf }, taskId);
    if (!found) throw new Problem('not_found', `There was no task ${taskId} any more as of ${asOf}`);
    const now = await this.db.inOrg(org, (tx) => findTask(tx, taskId));
    requireSight(asker, (now ?? found.task).user_id);
    return { task: await this.answer(org, found), steps: found.steps };
  }

  private async answer(
    org: string,
    found: { task: StoredTask; dependencies: DependencyRow[] },
  ): Promise<TaskAnswer> {
    const [row] = await this.withModels(org, [found.task]);
    const { report_digest: digest, ...task } = found.task;
    const report = digest === null ? task.report : ((await this.blobs.get(org, digest)) ?? task.report);
    return { ...task, provider: null, model: null, ...row, report, dependencies: found.dependencies };
  }

  /**
   * A task as of a write: rows are waited for briefly, and what is there then says by its position what it reflects. Where
   * not even the task is there yet it throws `unavailable`: what was written must not be told as what does not exist.
   */
  async asOf(org: string, asker: Asker, taskId: string, position: string): Promise<TaskAnswer> {
    const reached = await tasksReached(this.db, position);
    const isThere = reached || (await this.db.inOrg(org, (tx) => findTask(tx, taskId)));
    if (!isThere)
      throw new Problem('unavailable', `${taskId} is recorded, and its row is late: read it in a moment`);
    return this.task(org, asker, taskId);
  }

  async withModels<Row extends Pick<StoredTask, 'model_id'>>(
    org: string,
    rows: readonly Row[],
  ): Promise<(Row & { provider: string | null; model: string | null })[]> {
    const named = rows.some(({ model_id }) => model_id !== null);
    const models = named ? await this.registry.allowedModels(org) : new Map<string, never>();
    return rows.map((row) => {
      const route = row.model_id === null ? undefined : models.get(row.model_id);
      return { ...row, provider: route?.provider ?? null, model: route?.model ?? null };
    });
  }
}

/** The lock as of an instant; null: there is none, or it was released. */
export function lockRow({ lock }: LiveTask, now: number): TaskLockRow | null {
  if (!lock) return null;
  const { fence, lockId, holder, expiresAt } = lock;
  return {
    fence,
    lock_id: lockId,
    holder,
    expires_at: new Date(expiresAt).toISOString(),
    expired: expiresAt <= now,
  };
}

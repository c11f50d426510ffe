import { BOARD_ID } from '@runyard/contracts';
import type { DependencyRow, TaskStepRow } from '@runyard/contracts';
import { instantOf, rowsAsOf } from '@runyard/persistence';
import type { Database } from '@runyard/persistence';
import { BOARD_TABLES, TASKS_PROJECTION } from './board.projection';
import { dependenciesOf, findTask, listTasks, stepsOf } from './task.queries';
import type { Page, StoredTask, TaskFilter } from './task.queries';

interface Moment {
  org: string;
  asOf: string;
}

/** A task as it was, with what it waited for and its plan. */
export interface PastTask {
  task: StoredTask;
  dependencies: DependencyRow[];
  steps: TaskStepRow[];
}

const past = ({ org, asOf }: Moment) =>
  ({ org, asOf, context: 'tasks', projection: TASKS_PROJECTION, tables: BOARD_TABLES }) as const;

/** Undefined where it had been deleted by then; throws `not_found` where it was not there yet. */
export async function taskAsOf(db: Database, moment: Moment, taskId: string): Promise<PastTask | undefined> {
  const at = await instantOf(db, past(moment));
  const rows = { ...past(moment), ids: [taskId, BOARD_ID], named: taskId };
  return rowsAsOf(db, rows, async (tx, include) => {
    const task = await findTask(tx, taskId);
    if (!task) return undefined;
    await include(task.blocked_by);
    const dependencies = await dependenciesOf(tx, task.blocked_by);
    return { task: lockedAt(task, at), dependencies, steps: await stepsOf(tx, taskId) };
  });
}

/**
 * A page of the board as it was, cards that were deleted since among them. All that ever happened on the org's board up to
 * there is gone through, so it is for looking back, not for watching.
 */
export async function boardAsOf(db: Database, moment: Moment, filter: TaskFilter): Promise<Page<StoredTask>> {
  const at = await instantOf(db, past(moment));
  const page = await rowsAsOf(db, { ...past(moment), ids: null }, (tx) => listTasks(tx, filter));
  return { ...page, data: page.data.map((task) => lockedAt(task, at)) };
}

/** Whether a lock had expired is a matter of that instant. */
const lockedAt = (task: StoredTask, at: number): StoredTask =>
  task.lock ? { ...task, lock: { ...task.lock, expired: Date.parse(task.lock.expires_at) <= at } } : task;

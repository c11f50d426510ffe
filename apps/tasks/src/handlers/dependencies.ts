import { Problem, taskRunKey } from '@runyard/contracts';
import { runIdOf } from '@runyard/event-log';
import type { LiveTask } from '../domain/task';
import type { Dependency, Requesting } from '../domain/task-commands';
import type { TasksLog } from './tasks-log.adapter';

/** Tasks looked at in search of a circle; more are not believed to be one plan. */
const MOST_LOOKED_AT = 500;

/** How the tasks that one depends on stand now, by their own logs. */
export async function dependenciesOf(
  log: TasksLog,
  org: string,
  taskIds: readonly string[],
): Promise<Dependency[]> {
  return Promise.all(
    taskIds.map(async (taskId) => {
      const task = await log.read(org, taskId);
      return { taskId, status: task.situation === 'live' ? task.status : ('deleted' as const) };
    }),
  );
}

/** What deciding about a task's next phase needs besides the task. */
export async function requesting(
  log: TasksLog,
  org: string,
  taskId: string,
  task: LiveTask,
): Promise<Requesting> {
  const dependencies = await dependenciesOf(log, org, task.details.blockedBy);
  return {
    runIdOf: (number) => runIdOf(org, taskRunKey(taskId, number)),
    open: dependencies.filter(({ status }) => status !== 'completed'),
    now: Date.now(),
  };
}

/** Throws `invalid_request` for dependencies that do not exist or that wait, however indirectly, for the task itself. */
export async function requireDependencies(
  log: TasksLog,
  org: string,
  taskId: string | null,
  blockedBy: readonly string[],
): Promise<void> {
  const seen = new Set<string>();
  let next = [...blockedBy];
  while (next.length > 0) {
    const tasks = await Promise.all(next.map(async (id) => ({ id, task: await log.read(org, id) })));
    for (const { id, task } of tasks) {
      if (id === taskId) throw refusal('must not wait for the task itself, not even through others');
      if (task.situation !== 'live' && blockedBy.includes(id) && seen.size < blockedBy.length)
        throw refusal(`names ${id}, which does not exist`);
      seen.add(id);
    }
    next = [
      ...new Set(tasks.flatMap(({ task }) => (task.situation === 'live' ? task.details.blockedBy : []))),
    ].filter((id) => !seen.has(id));
    if (seen.size > MOST_LOOKED_AT) throw refusal('depends on more tasks than can be looked through');
  }
}

const refusal = (detail: string): Problem =>
  new Problem('invalid_request', `The dependencies are not valid: /blocked_by ${detail}`, {
    errors: [{ pointer: '/blocked_by', detail }],
  });

import { requestSubject, subjectOf } from '@runyard/contracts';
import { VersionConflict, streamOperations } from '@runyard/event-log';
import { setTimeout as wait } from 'node:timers/promises';
import type { Installation } from './installation';
import { forgetAnswers } from './kept-answers';
import { runsOfTasks } from './named-ids';
import type { Overwriting } from './overwriting';
import { readersReach } from './readers';
import { CommandFailed } from './terminal';

const LOOK_MS = 100;
const PATIENCE_MS = 20_000;

/**
 * A task and its runs are one record: each run is told what the ones before it answered, and the task keeps what they
 * answered. Erasing one of them therefore erases all. What stays of a task is that it was erased.
 */
export async function eraseTasks(
  installation: Installation,
  overwriting: Overwriting,
  org: string,
  taskIds: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  if (taskIds.length === 0) return;
  let newest = 0;
  for (const taskId of taskIds) newest = Math.max(newest, await appendErasure(installation, org, taskId));
  await readersReach(installation, 'TASKS', newest, signal);
  for (const taskId of taskIds) {
    signal.throwIfAborted();
    await overwriting.aggregate('TASKS', subjectOf('tasks', org, taskId), true);
  }
  overwriting.done.tasks += taskIds.length;
  overwriting.done.keptAnswers += await forgetAnswers(installation, org, taskIds);
}

/** The tasks of some runs. Throws CommandFailed where one is being worked on: it would go on with what is erased. */
export async function tasksAtRest(
  { db }: Installation,
  org: string,
  runIds: readonly string[],
): Promise<string[]> {
  const found = await runsOfTasks(db, org, { runs: runIds });
  const tasks = [...new Set(found.map(({ task }) => task))];
  const [busy] = await db.read((tx) =>
    tx.query<{ task_id: string }>(
      `SELECT task_id FROM tasks.agent_tasks WHERE org_id = $1 AND task_id = ANY($2) AND status = 'running' LIMIT 1`,
      [org, tasks],
    ),
  );
  if (busy)
    throw new CommandFailed(
      `The task ${busy.task_id} is being worked on and holds what its runs answered; stop it first`,
    );
  return tasks;
}

/** Requests that were sent before their task or agent was gone are runs, or refused. */
export async function requestsTaken(
  installation: Installation,
  org: string,
  signal: AbortSignal,
): Promise<void> {
  const operations = streamOperations((await installation.bus()).connection);
  try {
    for (const until = Date.now() + PATIENCE_MS; ; await wait(LOOK_MS, undefined, { signal })) {
      const waiting = await operations.count('REQUESTS', requestSubject(org));
      if (waiting === 0) return;
      if (Date.now() > until)
        throw new CommandFailed(`${waiting} requests of the org wait for an executor; say this again`);
    }
  } finally {
    operations.close();
  }
}

/** Appends the tombstone where it is not there yet; returns its sequence. */
async function appendErasure(installation: Installation, org: string, taskId: string): Promise<number> {
  const { log } = await installation.bus();
  const subject = subjectOf('tasks', org, taskId);
  const meta = { actor: 'system:operator', source: 'cli' } as const;
  const events = [{ type: 'TaskErased', data: { userId: null } }];
  for (;;) {
    const commits = await log.read(subject);
    const last = commits.at(-1);
    if (last?.events.some(({ type }) => type.includes('.TaskErased.'))) return last.sequence;
    try {
      return (await log.append({ subject, expected: last?.sequence ?? 0, events, meta })).sequence;
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
    }
  }
}

import { dropDeadLetters } from './dead-content';
import type { Eraser } from './erase';
import { dropReplays } from './erase-replays';
import { eraseRuns } from './erase-runs';
import { tasksAtRest } from './erase-tasks';
import type { Installation } from './installation';
import { runsOfTasks } from './named-ids';
import { orgOf } from './orgs';
import { Overwriting } from './overwriting';
import { everybodyRead } from './readers';
import { receiptOf, vacuum } from './receipt';
import { erasableChoice } from './run-choices';
import { CommandFailed } from './terminal';
import { removeUnnamed } from './unnamed-blobs';

/**
 * Erases one run; one that a task asked for with the task and its other runs. Throws CommandFailed where it has not ended.
 * Saying it again erases what an interrupted one left.
 */
export const eraseOneRun: Eraser = async (installation, runId, options, line, signal) => {
  const org = await orgOf(installation, options.org);
  const overwriting = await Overwriting.open(installation);
  try {
    await requireEnded(installation, org, runId);
    await everybodyRead(installation, signal, ['TASKS']);
    const tasks = await tasksAtRest(installation, org, [runId]);
    const ofTasks = (await runsOfTasks(installation.db, org, { tasks })).map(({ run }) => run);
    const runs = [...new Set([runId, ...ofTasks])];
    if (tasks.length > 0) line.terminal.say(`With the task ${tasks.join(', ')} and its ${runs.length} runs`);
    const related = await relatedRuns(installation, org, runs);
    const erased = await eraseRuns(installation, overwriting, org, erasableChoice.these(runs), signal);
    // An earlier attempt may have come as far as the rows.
    await overwriting.emptied(org, runs);
    overwriting.done.deadLetters += await dropDeadLetters(installation, org, { runs });
    await dropReplays(installation, overwriting);
    const texts = await removeUnnamed(installation.db, org, overwriting.texts, overwriting.definitions);
    const tables = await vacuum(installation, options.rewrite);
    const what = { erased: `run ${runId}`, org, runs: erased.length, texts, tables, related };
    return await receiptOf(installation, what, overwriting);
  } finally {
    overwriting.close();
  }
};

async function requireEnded({ db }: Installation, org: string, runId: string): Promise<void> {
  const [known] = await db.read((tx) =>
    tx.query<{ ended: boolean }>(
      'SELECT ended FROM run_executor.run_keys WHERE run_id = $1 AND org_id = $2',
      [runId, org],
    ),
  );
  if (!known) throw new CommandFailed(`There is no run ${runId} in org ${org}`);
  if (!known.ended) throw new CommandFailed(`The run ${runId} has not ended; cancel it first`);
}

/** Parents, subagents, forks and sources: their own logs hold what passed between them, and are not touched. */
async function relatedRuns({ db }: Installation, org: string, runIds: readonly string[]): Promise<string[]> {
  const rows = await db.read((tx) =>
    tx.query<{ id: string }>(
      `SELECT run_id AS id FROM run_executor.agent_runs
       WHERE org_id = $1 AND (parent_run_id = ANY($2) OR source_run_id = ANY($2))
       UNION SELECT parent_run_id FROM run_executor.agent_runs WHERE org_id = $1 AND run_id = ANY($2)
       UNION SELECT source_run_id FROM run_executor.agent_runs WHERE org_id = $1 AND run_id = ANY($2)`,
      [org, [...runIds]],
    ),
  );
  return rows.map(({ id }) => id).filter((id) => id !== null && !runIds.includes(id));
}

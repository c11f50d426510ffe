import { ERASED_RUNS, subjectOf } from '@runyard/contracts';
import type { RunErased } from '@runyard/contracts';
import { VersionConflict } from '@runyard/event-log';
import type { EventLog } from '@runyard/event-log';
import { eraseQuestions } from './erase-questions';
import { eraseTasks, tasksAtRest } from './erase-tasks';
import { erasableRuns } from './erasable-runs';
import type { Choice } from './erasable-runs';
import type { Installation } from './installation';
import type { Overwriting } from './overwriting';
import { forgetAnswers } from './kept-answers';
import { readersReach } from './readers';

type Erasure = RunErased['data'];

/** Erasures in one commit: each takes about half a kilobyte. */
const AT_ONCE = 200;

/**
 * Erases the ended runs of an org that a choice takes, in this order, each step repeatable: the tasks that asked for them
 * go; the erasure is an event; the projections take the rows; then log and archive are overwritten. Returns the ids. A
 * choice must take all runs of a task or none.
 */
export async function eraseRuns(
  installation: Installation,
  overwriting: Overwriting,
  org: string,
  choice: Choice,
  signal: AbortSignal,
  onProgress: (runs: number) => void = () => undefined,
): Promise<string[]> {
  const { log } = await installation.bus();
  const erased: string[] = [];
  for (;;) {
    const batch = await installation.db.read((tx) => erasableRuns(tx, org, choice, AT_ONCE));
    if (batch.length === 0) return erased;
    const runIds = batch.map(({ runId }) => runId);
    await eraseTasks(installation, overwriting, org, await tasksAtRest(installation, org, runIds), signal);
    const sequence = await appendErasures(log, org, batch);
    await readersReach(installation, 'RUNS', sequence, signal);
    await eraseQuestions(installation, overwriting, org, runIds, signal);
    overwriting.done.keptAnswers += await forgetAnswers(installation, org, runIds);
    for (const { runId, previousRunId } of batch) {
      signal.throwIfAborted();
      await leaveSlots(installation, runId, previousRunId);
      await overwriting.aggregate('RUNS', subjectOf('runs', org, runId));
      erased.push(runId);
      onProgress(erased.length);
    }
  }
}

async function appendErasures(log: EventLog, org: string, batch: readonly Erasure[]): Promise<number> {
  const subject = subjectOf('erasures', org, ERASED_RUNS);
  const events = batch.map((data) => ({ type: 'RunErased', data }));
  const meta = { actor: 'system:operator', source: 'cli' } as const;
  for (;;) {
    try {
      const expected = await log.lastSequence(subject);
      return (await log.append({ subject, expected, events, meta })).sequence;
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
    }
  }
}

/** The nearest turn before that was not erased. */
const TURN_BEFORE = `
  WITH RECURSIVE before (run_id) AS (
    SELECT $1::text UNION ALL
    SELECT d.previous_run_id FROM before b JOIN run_executor.deleted_runs d ON d.run_id = b.run_id AND d.erased_at IS NOT NULL
    WHERE b.run_id IS NOT NULL)
  SELECT run_id FROM before b WHERE NOT EXISTS (
    SELECT FROM run_executor.deleted_runs d WHERE d.run_id = b.run_id AND d.erased_at IS NOT NULL)`;

/** A conversation whose last turn is erased goes on after the turn before. */
async function leaveSlots({ db }: Installation, runId: string, previous: string | null): Promise<void> {
  await db.write(async (tx) => {
    const [turn] = await tx.query<{ run_id: string | null }>(TURN_BEFORE, [previous]);
    const before = turn?.run_id ?? null;
    await tx.query(
      `UPDATE run_executor.run_slots SET run_id = $2, previous_run_id = NULL
       WHERE run_id = $1 AND kind = 'conversation' AND $2::text IS NOT NULL`,
      [runId, before],
    );
    await tx.query('DELETE FROM run_executor.run_slots WHERE run_id = $1', [runId]);
    await tx.query('UPDATE run_executor.run_slots SET previous_run_id = $2 WHERE previous_run_id = $1', [
      runId,
      before,
    ]);
  });
}

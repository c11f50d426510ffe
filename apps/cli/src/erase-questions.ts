import { subjectOf } from '@runyard/contracts';
import type { Installation } from './installation';
import type { Overwriting } from './overwriting';
import { readersReach } from './readers';

/** Tables of the approvals that name a run and a question. */
const TABLES = ['approvals.approvals', 'approvals.asked_calls'];
/** Says of questions what their logs said, which are gone. */
const FEED = 'approvals.activity_approvals';

/**
 * Questions to people about calls of erased runs hold the calls' arguments: their logs are overwritten whole and their rows
 * go, so that a rebuild of them finds nothing either.
 */
export async function eraseQuestions(
  installation: Installation,
  overwriting: Overwriting,
  org: string,
  runIds: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { db } = installation;
  const { log } = await installation.bus();
  const { lastSequence } = await log.state('APPROVALS');
  if (lastSequence === 0) return;
  await readersReach(installation, 'APPROVALS', lastSequence, signal);
  const found = TABLES.map((table) => `SELECT approval_id FROM ${table} WHERE run_id = ANY($1)`);
  const questions = await db.read((tx) =>
    tx.query<{ approval_id: string }>(found.join(' UNION '), [[...runIds]]),
  );
  for (const { approval_id } of questions)
    await overwriting.aggregate('APPROVALS', subjectOf('approvals', org, approval_id));
  overwriting.done.questions += questions.length;
  await db.write(async (tx) => {
    for (const table of [...TABLES, FEED])
      await tx.query(`DELETE FROM ${table} WHERE run_id = ANY($1)`, [[...runIds]]);
  });
}

import { dropDeadLetters } from './dead-content';
import type { Eraser } from './erase';
import { eraseRuns } from './erase-runs';
import { orgOf } from './orgs';
import { Overwriting } from './overwriting';
import { receiptOf, vacuum } from './receipt';
import { erasableChoice } from './run-choices';
import { CommandFailed } from './terminal';
import { removeUnnamed } from './unnamed-blobs';

/** Erases one run. Throws CommandFailed where it has not ended. Saying it again erases what an interrupted one left. */
export const eraseOneRun: Eraser = async (installation, runId, options, _line, signal) => {
  const org = await orgOf(installation, options.org);
  const overwriting = await Overwriting.open(installation);
  try {
    const [known] = await installation.db.read((tx) =>
      tx.query<{ ended: boolean }>(
        'SELECT ended FROM run_executor.run_keys WHERE run_id = $1 AND org_id = $2',
        [runId, org],
      ),
    );
    if (!known) throw new CommandFailed(`There is no run ${runId} in org ${org}`);
    if (!known.ended) throw new CommandFailed(`The run ${runId} has not ended; cancel it first`);
    const erased = await eraseRuns(installation, overwriting, org, erasableChoice.these([runId]), signal);
    // An earlier attempt may have come as far as the rows.
    await overwriting.emptied(org, [runId]);
    await dropDeadLetters(installation, org, new Set([runId]));
    const texts = await removeUnnamed(installation.db, org, overwriting.texts, overwriting.definitions);
    const tables = await vacuum(installation, options.rewrite);
    const what = { erased: `run ${runId}`, org, runs: erased.length, texts, tables };
    return await receiptOf(installation, what, overwriting);
  } finally {
    overwriting.close();
  }
};

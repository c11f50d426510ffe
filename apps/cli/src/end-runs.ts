import { setTimeout as wait } from 'node:timers/promises';
import { Problem } from '@runyard/contracts';
import { ENDED } from './erasable-runs';
import type { Installation } from './installation';
import { operatorOf } from './orgs';
import { rpcOf } from './service-calls';
import { CommandFailed } from './terminal';

const LOOK_MS = 250;
const PATIENCE_MS = 60_000;

/** Cancels the unfinished ones of some runs and waits for their ends. Throws CommandFailed where one does not end. */
export async function endRuns(
  installation: Installation,
  org: string,
  runIds: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const call = await rpcOf(installation, operatorOf(org));
  for (const until = Date.now() + PATIENCE_MS; ; await wait(LOOK_MS, undefined, { signal })) {
    const open = await installation.db.read((tx) =>
      tx.query<{ run_id: string }>(
        `SELECT run_id FROM run_executor.agent_runs WHERE org_id = $1 AND run_id = ANY($2) AND state NOT IN ${ENDED}`,
        [org, [...runIds]],
      ),
    );
    if (open.length === 0) return;
    if (Date.now() > until)
      throw new CommandFailed(
        `${open.length} runs do not end, ${open[0]?.run_id} among them; say this again`,
      );
    for (const { run_id } of open) await harmless(call('run-executor', 'runs.cancel', { run_id }));
  }
}

/** A run that has ended meanwhile cannot be cancelled any more, which is what was wanted. */
async function harmless(cancel: Promise<unknown>): Promise<void> {
  try {
    await cancel;
  } catch (error) {
    if (!(error instanceof Problem && error.code === 'run_not_controllable')) throw error;
  }
}

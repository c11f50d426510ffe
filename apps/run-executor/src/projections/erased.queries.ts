import type { Database } from '@runyard/persistence';

/** What is still known of a run whose log was overwritten. */
export interface ErasedRun {
  /** The turn before it in its conversation. */
  previousRunId: string | null;
}

/** Undefined: the run was not erased. An empty log alone does not tell: it may be one that has not begun. */
export const erasedRuns =
  (db: Database) =>
  async (org: string, runId: string): Promise<ErasedRun | undefined> => {
    const [row] = await db.inOrg(org, (tx) =>
      tx.query<{ previous_run_id: string | null }>(
        'SELECT previous_run_id FROM deleted_runs WHERE run_id = $1 AND erased_at IS NOT NULL',
        [runId],
      ),
    );
    return row && { previousRunId: row.previous_run_id };
  };

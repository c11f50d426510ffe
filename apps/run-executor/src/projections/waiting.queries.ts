import type { Database } from '@runyard/persistence';
import type { OpenRun } from './operations.queries';

/** Runs of all orgs that have waited for their children for `ms`, by the database's clock; the row only says where to look. */
export async function waitingRuns(db: Database, ms: number, limit: number): Promise<OpenRun[]> {
  const rows = await db.acrossOrgs('sweep waiting runs', (tx) =>
    tx.query<{ org_id: string; run_id: string }>(
      `SELECT org_id, run_id FROM agent_runs
       WHERE state = 'waiting' AND heartbeat_at < clock_timestamp() - $1 * interval '1 millisecond'
       ORDER BY created_at LIMIT $2`,
      [ms, limit],
    ),
  );
  return rows.map(({ org_id, run_id }) => ({ org: org_id, runId: run_id }));
}

import type { RunState } from '@runyard/contracts';
import type { Tx } from '@runyard/persistence';

/** Runs of an agent, or those in one state, as far as the rows know; the log says how each of them stands. */
export async function runsOfAgent(tx: Tx, org: string, agentId: string, state?: RunState): Promise<string[]> {
  const rows = await tx.query<{ run_id: string }>(
    `SELECT run_id FROM agent_runs WHERE org_id = $1::uuid AND agent_id = $2 AND ($3::text IS NULL OR state = $3)
     ORDER BY created_at`,
    [org, agentId, state ?? null],
  );
  return rows.map(({ run_id }) => run_id);
}

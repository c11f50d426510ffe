import type { TreeSpendLine } from '@runyard/contracts';
import type { Tx } from '@runyard/persistence';

/** A run whose root has not been settled. */
export interface TreeRun {
  runId: string;
  org: string;
  rootRunId: string;
  ownerId: string;
  agentId: string;
}

interface TreeRow {
  run_id: string;
  org_id: string;
  root_run_id: string;
  owner_id: string;
  agent_id: string;
  lines: TreeSpendLine[] | null;
}

/** Notes runs that were queued; for the reaction, inside the transaction that moves its checkpoint. */
export async function noteRuns(tx: Tx, runs: readonly TreeRun[]): Promise<void> {
  if (runs.length === 0) return;
  await tx.query(
    `INSERT INTO tree_runs (run_id, org_id, root_run_id, owner_id, agent_id)
     SELECT * FROM unnest($1::text[], $2::uuid[], $3::text[], $4::uuid[], $5::text[]) ON CONFLICT DO NOTHING`,
    [
      runs.map((run) => run.runId),
      runs.map((run) => run.org),
      runs.map((run) => run.rootRunId),
      runs.map((run) => run.ownerId),
      runs.map((run) => run.agentId),
    ],
  );
}

/** The runs among these that are known and not settled. */
export async function findRuns(tx: Tx, runIds: readonly string[]): Promise<TreeRun[]> {
  if (runIds.length === 0) return [];
  const rows = await tx.query<TreeRow>('SELECT * FROM tree_runs WHERE run_id = ANY ($1)', [runIds]);
  return rows.map(({ run_id, org_id, root_run_id, owner_id, agent_id }) => ({
    runId: run_id,
    org: org_id,
    rootRunId: root_run_id,
    ownerId: owner_id,
    agentId: agent_id,
  }));
}

/** Keeps what children have spent until their root ends. */
export async function keepLines(tx: Tx, lines: ReadonlyMap<string, readonly TreeSpendLine[]>): Promise<void> {
  if (lines.size === 0) return;
  await tx.query(
    `UPDATE tree_runs t SET lines = k.lines FROM unnest($1::text[], $2::jsonb[]) AS k (run_id, lines) WHERE t.run_id = k.run_id`,
    [[...lines.keys()], [...lines.values()].map((value) => JSON.stringify(value))],
  );
}

/** What the children of these roots have spent, by root. */
export async function linesOfTrees(
  tx: Tx,
  roots: readonly string[],
): Promise<ReadonlyMap<string, TreeSpendLine[]>> {
  const rows = await tx.query<TreeRow>(
    'SELECT * FROM tree_runs WHERE root_run_id = ANY ($1) AND lines IS NOT NULL ORDER BY root_run_id, run_id',
    [roots],
  );
  const trees = new Map<string, TreeSpendLine[]>();
  for (const { root_run_id: root, lines } of rows)
    trees.set(root, [...(trees.get(root) ?? []), ...(lines ?? [])]);
  return trees;
}

export async function forgetTrees(tx: Tx, roots: readonly string[]): Promise<void> {
  if (roots.length > 0) await tx.query('DELETE FROM tree_runs WHERE root_run_id = ANY ($1)', [roots]);
}

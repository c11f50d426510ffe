import type { Tx } from '@runyard/persistence';
import { answer, BRANCH, FROM_RUNS } from './run-views';
import type { Answer } from './run-views';

/** Descendants that inspection lists; more are cut, visibly. */
export const MAX_TREE = 200;

/** Ids of all runs below $1. */
const BELOW = `tree AS (
  SELECT run_id FROM agent_runs WHERE parent_run_id = $1
  UNION SELECT c.run_id FROM tree t JOIN agent_runs c ON c.parent_run_id = t.run_id)`;

/** Runs that a run delegated to, at any depth; one more than a tree lists where there are more. */
export async function descendants(tx: Tx, runId: string): Promise<Answer[]> {
  const rows = await tx.query(
    `WITH RECURSIVE ${BELOW}
     SELECT ${BRANCH} FROM tree t JOIN (${FROM_RUNS}) ON a.run_id = t.run_id
     ORDER BY a.depth, a.created_at, a.run_id LIMIT ${MAX_TREE + 1}`,
    [runId],
  );
  return rows.map(answer);
}

/** What a run and all below it come to together. A row's own counts are its own calls only (P6.4). */
export async function totalsOf(tx: Tx, runId: string): Promise<Answer> {
  const sums = [
    'input_tokens',
    'output_tokens',
    'cached_tokens',
    'total_tokens',
    'model_calls',
    'tool_calls',
  ];
  const [row] = await tx.query(
    `WITH RECURSIVE ${BELOW}
     SELECT count(*)::int AS runs, ${sums.map((name) => `sum(${name})::bigint AS ${name}`).join(', ')}
     FROM agent_runs WHERE run_id = $1 OR run_id IN (SELECT run_id FROM tree)`,
    [runId],
  );
  return answer(row ?? {});
}

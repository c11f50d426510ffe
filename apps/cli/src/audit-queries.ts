import { toSafeInteger } from '@runyard/persistence';
import type { Tx } from '@runyard/persistence';

/** Where ledger and runs disagree; tokens of both. */
export interface Disagreement {
  kind: 'tree' | 'owner-week' | 'model';
  org: string;
  /** The root run, or the owner and week, or the run and model. */
  what: string;
  ledger: number;
  runs: number;
}

interface Found {
  org: string;
  what: string;
  ledger: string;
  runs: string;
}

/**
 * Tokens of every ended tree as its runs have them: rows, and tombstones of deleted runs, which the ledger's lines place.
 * A tree whose root goes on counts nowhere yet.
 */
const TREES = `
  own AS (
    SELECT r.org_id, r.run_id, r.root_run_id, r.total_tokens AS tokens, r.user_id, r.ended_at FROM run_executor.agent_runs r
    UNION ALL
    SELECT d.org_id, d.run_id, COALESCE(l.root_run_id, d.run_id), d.input_tokens + d.output_tokens, NULL, d.ended_at
    FROM run_executor.deleted_runs d
    LEFT JOIN (SELECT DISTINCT ON (org_id, run_id) org_id, run_id, root_run_id FROM budget_ledger.spend_lines
      ORDER BY org_id, run_id, (root_run_id = run_id)) l USING (org_id, run_id)
  ),
  trees AS (
    SELECT o.org_id, o.root_run_id, sum(o.tokens) AS tokens,
      (max(o.user_id::text) FILTER (WHERE o.run_id = o.root_run_id))::uuid AS owner_id,
      max(o.ended_at) FILTER (WHERE o.run_id = o.root_run_id) AS ended_at
    FROM own o
    WHERE NOT EXISTS (SELECT 1 FROM run_executor.agent_runs root
      WHERE root.run_id = o.root_run_id AND root.ended_at IS NULL)
    GROUP BY 1, 2
  )`;

const BY_TREE = `
  WITH ${TREES}
  SELECT COALESCE(s.org_id, t.org_id)::text AS org, COALESCE(s.run_id, t.root_run_id) AS what,
    COALESCE(s.tokens, 0)::text AS ledger, COALESCE(t.tokens, 0)::text AS runs
  FROM budget_ledger.settlements s FULL JOIN trees t ON t.org_id = s.org_id AND t.root_run_id = s.run_id
  WHERE COALESCE(s.tokens, 0) <> COALESCE(t.tokens, 0)
  ORDER BY 1, 2`;

/** The lines of a settlement add up to what it says: nothing was counted that no run names. */
const BY_LINES = `
  SELECT s.org_id::text AS org, s.run_id AS what, s.tokens::text AS ledger, COALESCE(sum(l.input_tokens + l.output_tokens), 0)::text AS runs
  FROM budget_ledger.settlements s LEFT JOIN budget_ledger.spend_lines l ON l.org_id = s.org_id AND l.root_run_id = s.run_id
  GROUP BY s.org_id, s.run_id, s.tokens HAVING s.tokens <> COALESCE(sum(l.input_tokens + l.output_tokens), 0)
  ORDER BY 1, 2`;

/** The week is found anew from the end of the root and the week's boundaries; the ledger says which it took. */
const BY_WEEK = `
  WITH ${TREES},
  placed AS (
    SELECT t.org_id, COALESCE(t.owner_id, s.owner_id) AS owner_id, COALESCE(w.week, s.week) AS week, t.tokens
    FROM trees t LEFT JOIN budget_ledger.settlements s ON s.org_id = t.org_id AND s.run_id = t.root_run_id
    LEFT JOIN budget_ledger.budget_weeks w ON w.org_id = t.org_id AND w.owner_id = COALESCE(t.owner_id, s.owner_id)
      AND w.starts_at <= t.ended_at AND w.ends_at > t.ended_at
  ),
  of_runs AS (SELECT org_id, owner_id, week, sum(tokens) AS tokens FROM placed WHERE owner_id IS NOT NULL GROUP BY 1, 2, 3)
  SELECT COALESCE(b.org_id, r.org_id)::text AS org,
    COALESCE(b.owner_id, r.owner_id)::text || ' ' || COALESCE(b.week, r.week)::text AS what,
    COALESCE(b.settled, 0)::text AS ledger, COALESCE(r.tokens, 0)::text AS runs
  FROM budget_ledger.budget_weeks b FULL JOIN of_runs r ON (b.org_id, b.owner_id, b.week) = (r.org_id, r.owner_id, r.week)
  WHERE COALESCE(b.settled, 0) <> COALESCE(r.tokens, 0)
  ORDER BY 1, 2`;

const COUNTS = `SELECT (SELECT count(*) FROM budget_ledger.settlements)::text AS trees,
  (SELECT count(*) FROM budget_ledger.budget_weeks)::text AS weeks, (SELECT COALESCE(sum(tokens), 0) FROM budget_ledger.settlements)::text AS tokens`;

/** Compares rows with rows, each kind in one statement and so in one snapshot. */
export async function disagreements(tx: Tx): Promise<Disagreement[]> {
  const trees = await tx.query<Found>(BY_TREE);
  const lines = await tx.query<Found>(BY_LINES);
  const weeks = await tx.query<Found>(BY_WEEK);
  return [
    ...trees.map((row) => disagreement('tree', row)),
    ...lines.map((row) => disagreement('tree', { ...row, what: `${row.what} (lines)` })),
    ...weeks.map((row) => disagreement('owner-week', row)),
  ];
}

export const disagreement = (
  kind: Disagreement['kind'],
  { org, what, ledger, runs }: Found,
): Disagreement => ({
  kind,
  org,
  what,
  ledger: toSafeInteger(ledger),
  runs: toSafeInteger(runs),
});

/** How much was compared. */
export async function sizes(tx: Tx): Promise<{ trees: number; weeks: number; tokens: number }> {
  const [row] = await tx.query<{ trees: string; weeks: string; tokens: string }>(COUNTS);
  return {
    trees: toSafeInteger(row?.trees ?? 0),
    weeks: toSafeInteger(row?.weeks ?? 0),
    tokens: toSafeInteger(row?.tokens ?? 0),
  };
}

/** Tokens that the ledger has for each run and model of an ended tree; lines of large trees stand in their root's name. */
export async function ledgerByModel(tx: Tx): Promise<ReadonlyMap<string, number>> {
  const rows = await tx.query<{ org_id: string; root_run_id: string; model_id: string; tokens: string }>(
    `SELECT org_id::text, root_run_id, model_id, sum(input_tokens + output_tokens)::text AS tokens FROM budget_ledger.spend_lines GROUP BY 1, 2, 3`,
  );
  return new Map(
    rows.map((row) => [
      JSON.stringify([row.org_id, row.root_run_id, row.model_id]),
      toSafeInteger(row.tokens),
    ]),
  );
}

/** Runs that the ledger's lines name and that are deleted, alone or with their org, with the root of each. */
export async function deletedRuns(tx: Tx): Promise<{ org: string; root: string; run: string }[]> {
  return tx.query(
    `SELECT DISTINCT l.org_id::text AS org, l.root_run_id AS root, l.run_id AS run FROM budget_ledger.spend_lines l
     WHERE EXISTS (SELECT FROM run_executor.deleted_runs d WHERE (d.org_id, d.run_id) = (l.org_id, l.run_id))
       OR EXISTS (SELECT FROM run_executor.erased_references e WHERE e.kind = 'organization' AND e.org_id = l.org_id)`,
  );
}

/** Roots of ended trees that were settled, by org. */
export async function settledRoots(tx: Tx): Promise<ReadonlySet<string>> {
  const rows = await tx.query<{ org_id: string; run_id: string }>(
    'SELECT org_id::text, run_id FROM budget_ledger.settlements',
  );
  return new Set(rows.map((row) => JSON.stringify([row.org_id, row.run_id])));
}

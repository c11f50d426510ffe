import { BOARD_ID, CONTEXT_STREAMS } from '@runyard/contracts';
import type { Context } from '@runyard/contracts';
import type { OwnerDatabase } from './owner-database.adapter';

// Whom texts belong to, by the archive: rows forget what was deleted, while its log holds it until it is erased.

const OF_CONTEXT = `e.stream = $1 AND e.org_id = $2 AND split_part(e.subject, '.', 2) = $3
  AND split_part(e.subject, '.', 5) <> '${BOARD_ID}'`;

/**
 * Ids of an org's aggregates whose logs hold one of some members, such as `"userId":"…"`. Texts of people cannot look like
 * one: quotes are escaped in them.
 */
export async function idsWith(
  db: OwnerDatabase,
  org: string,
  context: Context,
  members: readonly string[],
): Promise<string[]> {
  const rows = await db.read((tx) =>
    tx.query<{ id: string }>(
      `SELECT DISTINCT split_part(e.subject, '.', 5) AS id FROM archive.event_log e
       WHERE ${OF_CONTEXT} AND EXISTS (SELECT FROM unnest($4::text[]) m WHERE strpos(e.body, m) > 0) ORDER BY 1`,
      [CONTEXT_STREAMS[context], org, context, [...members]],
    ),
  );
  return rows.map(({ id }) => id);
}

/** Runs that tasks asked for, deleted tasks and runs too: pairs of ids. */
export async function runsOfTasks(
  db: OwnerDatabase,
  org: string,
  chosen: { tasks?: readonly string[]; runs?: readonly string[] },
): Promise<{ task: string; run: string }[]> {
  return db.read((tx) =>
    tx.query<{ task: string; run: string }>(
      `SELECT DISTINCT split_part(e.subject, '.', 5) AS task, m[1] AS run
       FROM archive.event_log e, regexp_matches(e.body, '"runId":"([^"]+)"', 'g') AS m
       WHERE ${OF_CONTEXT} AND (split_part(e.subject, '.', 5) = ANY($4) OR m[1] = ANY($5)) ORDER BY 1, 2`,
      ['TASKS', org, 'tasks', [...(chosen.tasks ?? [])], [...(chosen.runs ?? [])]],
    ),
  );
}

import type { Tx } from '@runyard/persistence';
import { answer, STEP_COLUMNS } from './run-views';
import type { Answer } from './run-views';
import { placedEntries } from './run-tables';

/** A part of a long sequence; `next_after` continues it, null at its end. */
export type PageOf<Name extends string> = Record<Name, Answer[]> & { next_after: number | null };

interface Part {
  rows: Answer[];
  next_after: number | null;
}

const DEFAULT_ROWS = 200;
const MOST_ROWS = 1_000;
/** An answer is one message on the bus: whatever the number of rows, their texts stay below this many bytes. */
const PAGE_BYTES = 384 * 1024;

const rowsOf = (asked: number | undefined): number =>
  Math.min(MOST_ROWS, Math.max(1, Math.trunc(asked ?? DEFAULT_ROWS) || DEFAULT_ROWS));

/** Steps after a `seq`: at least one where there are any, then as many as fit. */
export async function stepsPage(tx: Tx, runId: string, after = 0, limit?: number): Promise<Part> {
  const most = rowsOf(limit);
  const rows = await tx.query<Record<string, unknown> & { seq: number; before: bigint }>(
    `SELECT * FROM (SELECT ${STEP_COLUMNS},
       sum(octet_length(coalesce(content, '')) + octet_length(coalesce(arguments, '')) + octet_length(coalesce(reasoning, '')) + 512)
         OVER (ORDER BY seq) - octet_length(coalesce(content, '')) - octet_length(coalesce(arguments, ''))
         - octet_length(coalesce(reasoning, '')) AS before
       FROM (SELECT * FROM agent_steps WHERE run_id = $1 AND seq > $2 ORDER BY seq LIMIT $3) s) s
     ORDER BY seq`,
    [runId, after, most + 1],
  );
  return cut(
    rows,
    most,
    ({ before: _before, ...step }) => answer(step),
    (row) => row.seq,
  );
}

/** Entries after a place in the trajectory, counted from 1. */
export async function entriesPage(
  tx: Tx,
  runId: string,
  complete: boolean,
  after = 0,
  limit?: number,
): Promise<Part> {
  const most = rowsOf(limit);
  const source = complete
    ? `SELECT e.entry, e.number FROM agent_runs a, jsonb_array_elements(a.entries) WITH ORDINALITY AS e (entry, number) WHERE a.run_id = $1`
    : `SELECT entry, row_number() OVER (ORDER BY place) AS number FROM (${placedEntries('run_entries')}) e WHERE run_id = $1`;
  const rows = await tx.query<{ entry: Record<string, unknown>; number: bigint; before: bigint }>(
    `SELECT entry, number, sum(octet_length(entry::text)) OVER (ORDER BY number) - octet_length(entry::text) AS before
     FROM (SELECT * FROM (${source}) e WHERE number > $2 ORDER BY number LIMIT $3) e ORDER BY number`,
    [runId, after, most + 1],
  );
  return cut(
    rows,
    most,
    ({ entry }) => answer(entry),
    (row) => Number(row.number),
  );
}

function cut<Row extends { before: bigint | string }>(
  rows: readonly Row[],
  most: number,
  shape: (row: Row) => Answer,
  placeOf: (row: Row) => number,
): Part {
  const fitting = rows
    .slice(0, most)
    .filter(({ before }, index) => index === 0 || Number(before) < PAGE_BYTES);
  const last = fitting.at(-1);
  return {
    rows: fitting.map(shape),
    next_after: last && fitting.length < rows.length ? placeOf(last) : null,
  };
}

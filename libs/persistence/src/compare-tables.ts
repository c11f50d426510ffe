import { escapeIdentifier } from 'pg';
import { toSafeInteger } from './integers';
import type { Tx } from './types';

export interface TableComparison {
  table: string;
  /** Rows of the live table. */
  rows: number;
  /** Rows that the rebuild has and the live table has not. */
  missing: number;
  /** Rows that the live table has and the rebuild has not. */
  extra: number;
  /** At most three rows of either kind. */
  samples: { missing: unknown[]; extra: unknown[] };
}

export interface Comparison {
  table: string;
  /** Qualified names, quoted. */
  live: string;
  rebuilt: string;
  ignored: readonly string[];
  form?: TableForm | undefined;
}

/** A query over a table, by its qualified name, whose rows stand for what the table says. */
export type TableForm = (table: string) => string;
/** By the table's name. */
export type TableForms = Readonly<Record<string, TableForm>>;

const SAMPLES = 3;

async function columnsOf(tx: Tx, { table, live, ignored }: Comparison): Promise<string> {
  const columns = await tx.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    [live],
  );
  const names = columns.map(({ name }) => name);
  const unknown = ignored.find((name) => !names.includes(name));
  if (unknown) throw new Error(`${table} has no column ${unknown} that could be ignored`);
  return names
    .filter((name) => !ignored.includes(name))
    .map(escapeIdentifier)
    .join(', ');
}

/** ALL: of rows that occur several times, the number counts as well. */
async function difference(
  tx: Tx,
  columns: string,
  from: string,
  without: string,
): Promise<{ count: number; samples: unknown[] }> {
  const [row] = await tx.query<{ count: bigint; samples: unknown[] | null }>(
    `WITH difference AS MATERIALIZED (SELECT ${columns} FROM ${from} EXCEPT ALL SELECT ${columns} FROM ${without})
     SELECT (SELECT count(*) FROM difference) AS count,
            (SELECT jsonb_agg(to_jsonb(s)) FROM (SELECT * FROM difference LIMIT ${SAMPLES}) s) AS samples`,
  );
  return { count: toSafeInteger(row?.count ?? 0), samples: row?.samples ?? [] };
}

/** Compares two tables of the same shape, row for row and in both directions. */
export async function compareTable(tx: Tx, comparison: Comparison): Promise<TableComparison> {
  const { table, form } = comparison;
  const columns = form ? '*' : await columnsOf(tx, comparison);
  const compared = (name: string): string => (form ? `(${form(name)}) AS compared` : name);
  const live = compared(comparison.live);
  const rebuilt = compared(comparison.rebuilt);
  const [row] = await tx.query<{ count: bigint }>(`SELECT count(*) FROM ${live}`);
  const missing = await difference(tx, columns, rebuilt, live);
  const extra = await difference(tx, columns, live, rebuilt);
  return {
    table,
    rows: toSafeInteger(row?.count ?? 0),
    missing: missing.count,
    extra: extra.count,
    samples: { missing: missing.samples, extra: extra.samples },
  };
}

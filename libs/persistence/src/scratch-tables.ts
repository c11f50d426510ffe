import { escapeIdentifier } from 'pg';
import type { Tx } from './types';

export const inSchema = (schema: string, table: string): string =>
  `${escapeIdentifier(schema)}.${escapeIdentifier(table)}`;

export interface ScratchTables {
  /** Schema of the live tables. */
  schema: string;
  /** Schema that is made for their copies. */
  scratch: string;
  tables: readonly string[];
}

/**
 * Makes empty copies of tables in a schema of their own and leaves the search path there: a projection then reaches them
 * and nothing else. A table that was not declared is an error, never a live one. Triggers are not copied.
 */
export async function makeScratch(tx: Tx, { schema, scratch, tables }: ScratchTables): Promise<void> {
  await tx.query(`CREATE SCHEMA ${escapeIdentifier(scratch)}`);
  for (const table of tables)
    await tx.query(
      `CREATE TABLE ${inSchema(scratch, table)} (LIKE ${inSchema(schema, table)} INCLUDING ALL)`,
    );
  const keys = await foreignKeys(tx, schema, tables);
  await tx.query(`SET LOCAL search_path = ${escapeIdentifier(scratch)}, public`);
  for (const { child, definition } of keys)
    await tx.query(`ALTER TABLE ${inSchema(scratch, child)} ADD ${definition}`);
}

/** Foreign keys among the tables act on rows (ON DELETE CASCADE), so the copies need them; LIKE leaves them out. */
async function foreignKeys(
  tx: Tx,
  schema: string,
  tables: readonly string[],
): Promise<{ child: string; definition: string }[]> {
  await tx.query(`SET LOCAL search_path = ${escapeIdentifier(schema)}`);
  return tx.query(
    `SELECT child.relname AS child, pg_get_constraintdef(c.oid) AS definition
     FROM pg_constraint c JOIN pg_class child ON child.oid = c.conrelid JOIN pg_class parent ON parent.oid = c.confrelid
     JOIN pg_namespace n ON n.oid = child.relnamespace AND n.oid = parent.relnamespace
     WHERE c.contype = 'f' AND n.nspname = $1 AND child.relname = ANY($2) AND parent.relname = ANY($2)`,
    [schema, tables],
  );
}

/** Columns that a statement may write: all but generated ones. */
export async function writableColumns(tx: Tx, table: string): Promise<string[]> {
  const rows = await tx.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum`,
    [table],
  );
  return rows.map(({ name }) => escapeIdentifier(name));
}

/** Copies all rows from one table to another of the same shape. */
export async function copyRows(tx: Tx, from: string, to: string): Promise<void> {
  const columns = (await writableColumns(tx, from)).join(', ');
  await tx.query(`INSERT INTO ${to} (${columns}) OVERRIDING SYSTEM VALUE SELECT ${columns} FROM ${from}`);
}

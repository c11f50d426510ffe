import { escapeIdentifier } from 'pg';
import { toSafeInteger } from './integers';
import { inSchema, writableColumns } from './scratch-tables';
import type { Tx } from './types';

/** What the switch exchanged in a table; rows that were equal are not touched. */
export interface SwitchedTable {
  table: string;
  removed: number;
  added: number;
}

export interface Switch {
  schema: string;
  scratch: string;
  /** Become exactly what was rebuilt. */
  tables: readonly string[];
  /** Others write them as well: what is missing is added, nothing is taken away. */
  workTables: readonly string[];
}

/** The owner may not switch triggers off: foreign keys would act on rows that only change places. */
export class SwitchRefused extends Error {}

/**
 * Makes live tables what was rebuilt beside them, inside a transaction of the caller. Triggers are off meanwhile: rows that
 * leave and come back changed must not take others with them, and steps are immutable to everybody else.
 */
export async function switchRows(
  tx: Tx,
  { schema, scratch, tables, workTables }: Switch,
): Promise<SwitchedTable[]> {
  await withoutTriggers(tx);
  await tx.query(`SET LOCAL search_path = ${escapeIdentifier(schema)}, public`);
  const switched: SwitchedTable[] = [];
  for (const table of tables) {
    const removed = await removeOthers(tx, inSchema(schema, table), inSchema(scratch, table));
    switched.push({ table, removed, added: 0 });
  }
  // What goes first makes room in unique indexes for what comes.
  for (const one of switched)
    one.added = await addMissing(tx, inSchema(schema, one.table), inSchema(scratch, one.table));
  for (const table of workTables) await addMissing(tx, inSchema(schema, table), inSchema(scratch, table));
  return switched;
}

async function withoutTriggers(tx: Tx): Promise<void> {
  const [row] = await tx.query<{ allowed: boolean }>(
    `SELECT has_parameter_privilege('session_replication_role', 'SET') AS allowed`,
  );
  if (!row?.allowed)
    throw new SwitchRefused(
      'The owner of the tables may not switch triggers off; as a superuser: GRANT SET ON PARAMETER session_replication_role TO CURRENT_OWNER',
    );
  await tx.query('SET LOCAL session_replication_role = replica');
}

async function keyOf(tx: Tx, table: string): Promise<string[]> {
  const rows = await tx.query<{ name: string }>(
    `SELECT a.attname AS name FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)
     WHERE i.indrelid = $1::regclass AND i.indisprimary`,
    [table],
  );
  if (rows.length === 0)
    throw new SwitchRefused(`${table} has no primary key, by which its rows could be told apart`);
  return rows.map(({ name }) => escapeIdentifier(name));
}

const same = (key: readonly string[]): string => key.map((name) => `s.${name} = l.${name}`).join(' AND ');

async function removeOthers(tx: Tx, live: string, scratch: string): Promise<number> {
  const key = await keyOf(tx, live);
  const columns = await writableColumns(tx, live);
  const row = (alias: string) => `ROW(${columns.map((name) => `${alias}.${name}`).join(', ')})`;
  const [removed] = await tx.query<{ count: bigint }>(
    `WITH gone AS (DELETE FROM ${live} l WHERE NOT EXISTS (
       SELECT FROM ${scratch} s WHERE ${same(key)} AND ${row('s')} IS NOT DISTINCT FROM ${row('l')}) RETURNING 1)
     SELECT count(*) FROM gone`,
  );
  return toSafeInteger(removed?.count ?? 0);
}

async function addMissing(tx: Tx, live: string, scratch: string): Promise<number> {
  const key = await keyOf(tx, live);
  const columns = await writableColumns(tx, live);
  const [added] = await tx.query<{ count: bigint }>(
    `WITH come AS (INSERT INTO ${live} (${columns.join(', ')}) OVERRIDING SYSTEM VALUE
       SELECT ${columns.map((name) => `s.${name}`).join(', ')} FROM ${scratch} s
       WHERE NOT EXISTS (SELECT FROM ${live} l WHERE ${same(key)}) RETURNING 1)
     SELECT count(*) FROM come`,
  );
  return toSafeInteger(added?.count ?? 0);
}

import type { Tx } from '@runyard/persistence';

/** A table of rows that a projection keeps whole: read into memory, changed by events, written back in one statement. */
export interface Table<Row> {
  name: string;
  /** Columns of the primary key. */
  key: readonly (keyof Row & string)[];
  /** Columns beside the key. */
  columns: readonly (keyof Row & string)[];
}

/** Writes rows as they are given; one statement however many. */
export async function saveRows<Row>(tx: Tx, table: Table<Row>, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return;
  const columns = [...table.key, ...table.columns].join(', ');
  const updates = table.columns.map((column) => `${column} = EXCLUDED.${column}`).join(', ');
  await tx.query(
    `INSERT INTO ${table.name} (${columns})
     SELECT ${columns} FROM jsonb_populate_recordset(NULL::${table.name}, $1::jsonb)
     ON CONFLICT (${table.key.join(', ')}) DO ${updates ? `UPDATE SET ${updates}` : 'NOTHING'}`,
    [JSON.stringify(rows)],
  );
}

/** An aggregate's place among the tenants. */
export interface Place {
  org: string;
  id: string;
}

/** Rows of some aggregates, by `<org>/<id>`. `idColumn` is the second part of the key. */
export async function loadRows<Row>(
  tx: Tx,
  table: Table<Row>,
  idColumn: keyof Row & string,
  places: readonly Place[],
): Promise<Row[]> {
  if (places.length === 0) return [];
  const found = await tx.query<{ row: Row }>(
    `SELECT to_jsonb(t) AS row FROM ${table.name} t
     JOIN unnest($1::uuid[], $2::text[]) AS wanted (org, id) ON t.org_id = wanted.org AND t.${idColumn}::text = wanted.id`,
    [places.map(({ org }) => org), places.map(({ id }) => id)],
  );
  return found.map(({ row }) => row);
}

/** Rows of whole orgs. */
export async function loadOrgs<Row>(tx: Tx, table: Table<Row>, orgs: readonly string[]): Promise<Row[]> {
  if (orgs.length === 0) return [];
  const found = await tx.query<{ row: Row }>(
    `SELECT to_jsonb(t) AS row FROM ${table.name} t WHERE t.org_id = ANY ($1::uuid[])`,
    [orgs],
  );
  return found.map(({ row }) => row);
}

/** Deletes rows by their two-part key. */
export async function deleteRows(
  tx: Tx,
  table: string,
  idColumn: string,
  places: readonly Place[],
): Promise<void> {
  if (places.length === 0) return;
  await tx.query(
    `DELETE FROM ${table} t USING unnest($1::uuid[], $2::text[]) AS gone (org, id)
     WHERE t.org_id = gone.org AND t.${idColumn}::text = gone.id`,
    [places.map(({ org }) => org), places.map(({ id }) => id)],
  );
}

export const placeKey = ({ org, id }: Place): string => `${org}/${id}`;

/** Each place once, in the order of first mention. */
export function distinctPlaces(places: readonly Place[]): Place[] {
  return [...new Map(places.map((place) => [placeKey(place), { org: place.org, id: place.id }])).values()];
}

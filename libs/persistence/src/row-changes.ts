import type { Tx } from './types';

/** A table whose rows are read into memory, changed by events and written back, in a statement each. */
export interface RowTable<Row> {
  name: string;
  /** Columns of the primary key. */
  key: readonly (keyof Row & string)[];
  columns: readonly (keyof Row & string)[];
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Subjects of no org are left out: their rows could belong to nobody. */
export const isOrg = (org: string): boolean => UUID.test(org);

/** What a batch makes of rows: present ones are written, null ones deleted. */
export class RowChanges<Row extends object> {
  private readonly rows = new Map<string, Row | null>();

  private constructor(private readonly table: RowTable<Row>) {}

  /** Reads the rows with these keys. */
  static async load<Row extends object>(
    tx: Tx,
    table: RowTable<Row>,
    keys: readonly Partial<Row>[],
  ): Promise<RowChanges<Row>> {
    const changes = new RowChanges(table);
    if (keys.length === 0) return changes;
    const found = await tx.query<{ row: Row }>(
      `SELECT to_jsonb(t) AS row FROM ${table.name} t
       JOIN (SELECT DISTINCT ${table.key.join(', ')} FROM jsonb_populate_recordset(NULL::${table.name}, $1::jsonb)) k USING (${table.key.join(', ')})`,
      [JSON.stringify(keys)],
    );
    for (const { row } of found) changes.set(row);
    return changes;
  }

  get(key: Partial<Row>): Row | undefined {
    return this.rows.get(this.keyOf(key)) ?? undefined;
  }

  set(row: Row): void {
    this.rows.set(this.keyOf(row), row);
  }

  delete(key: Partial<Row>): void {
    this.rows.set(this.keyOf(key), null);
  }

  async save(tx: Tx): Promise<void> {
    const { name, key, columns } = this.table;
    const gone = [...this.rows]
      .filter(([, row]) => row === null)
      .map(([text]) => JSON.parse(text) as unknown);
    const kept = [...this.rows.values()].filter((row) => row !== null);
    if (gone.length) {
      const same = key.map((column, index) => `t.${column}::text = gone.k ->> ${index}`).join(' AND ');
      await tx.query(
        `DELETE FROM ${name} t USING jsonb_array_elements($1::jsonb) AS gone (k) WHERE ${same}`,
        [JSON.stringify(gone)],
      );
    }
    if (kept.length === 0) return;
    const all = [...key, ...columns].join(', ');
    await tx.query(
      `INSERT INTO ${name} (${all}) SELECT ${all} FROM jsonb_populate_recordset(NULL::${name}, $1::jsonb)
       ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${columns.map((column) => `${column} = EXCLUDED.${column}`).join(', ')}`,
      [JSON.stringify(kept)],
    );
  }

  private keyOf(row: Partial<Row>): string {
    return JSON.stringify(this.table.key.map((column) => row[column]));
  }
}

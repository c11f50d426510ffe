import { Statements } from './statements';
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
    const gone = [...this.rows].filter(([, row]) => row === null).map(([text]) => this.keyFrom(text));
    const kept = [...this.rows.values()].filter((row) => row !== null);
    const given = `jsonb_populate_recordset(NULL::${name}, $1::jsonb)`;
    const to = new Statements(tx);
    if (gone.length > 0) {
      const same = key.map((column) => `t.${column} = gone.${column}`).join(' AND ');
      to.send(`DELETE FROM ${name} t USING ${given} gone WHERE ${same}`, [JSON.stringify(gone)]);
    }
    if (kept.length > 0) {
      const all = [...key, ...columns].join(', ');
      const settings = columns.map((column) => `${column} = EXCLUDED.${column}`).join(', ');
      to.send(
        `INSERT INTO ${name} (${all}) SELECT ${all} FROM ${given} ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${settings}`,
        [JSON.stringify(kept)],
      );
    }
    await to.done();
  }

  private keyOf(row: Partial<Row>): string {
    return JSON.stringify(this.table.key.map((column) => row[column]));
  }

  private keyFrom(text: string): object {
    const values = JSON.parse(text) as unknown[];
    return Object.fromEntries(this.table.key.map((column, index) => [column, values[index]]));
  }
}

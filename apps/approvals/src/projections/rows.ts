import { records } from '@runyard/persistence';
import type { Tx } from '@runyard/persistence';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Subjects of no org are left out: their rows could belong to nobody. */
export const isOrg = (org: string): boolean => UUID.test(org);

/** What a batch makes of a table's rows: new ones, and columns of ones that may lie in the table or among the new ones. */
export class RowChanges<Row extends object> {
  private readonly inserted = new Map<string, Row>();
  private readonly updated = new Map<string, Partial<Row>>();

  constructor(
    private readonly table: string,
    private readonly key: keyof Row & string,
    /** Columns that an update writes; it writes all of them. */
    private readonly changing: readonly (keyof Row & string)[],
  ) {}

  insert(id: string, row: Row): void {
    this.inserted.set(id, row);
  }

  update(id: string, change: Partial<Row>): void {
    const fresh = this.inserted.get(id);
    if (fresh) this.inserted.set(id, { ...fresh, ...change });
    else this.updated.set(id, { ...this.updated.get(id), ...change });
  }

  /** Rows that are there already stay: a commit is applied once. */
  async save(tx: Tx): Promise<void> {
    const rows = [...this.inserted.values()];
    if (rows.length) {
      const columns = Object.keys(rows[0] ?? {}).join(', ');
      await tx.query(
        `INSERT INTO ${this.table} (${columns}) SELECT ${columns} FROM jsonb_populate_recordset(NULL::${this.table}, $1::jsonb)
         ON CONFLICT (${this.key}) DO NOTHING`,
        [records(rows)],
      );
    }
    if (this.updated.size === 0) return;
    const changes = [...this.updated].map(([id, change]) => ({ [this.key]: id, ...change }));
    await tx.query(
      `UPDATE ${this.table} t SET ${this.changing.map((column) => `${column} = c.${column}`).join(', ')}
       FROM jsonb_populate_recordset(NULL::${this.table}, $1::jsonb) c WHERE t.${this.key} = c.${this.key}`,
      [records(changes)],
    );
  }
}

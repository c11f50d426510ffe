import type { Database } from '@runyard/persistence';

/** A reservation of which the reaction knows no run. */
export interface UnbornReservation {
  org: string;
  ownerId: string;
  runId: string;
}

/** For the sweep, across orgs: reservations older than `olderThanMs` whose run was never seen, or was settled long ago. */
export class UnbornQueries {
  constructor(private readonly db: Database) {}

  async find(olderThanMs: number, most: number): Promise<UnbornReservation[]> {
    const rows = await this.db.acrossOrgs('reservations without a run', (tx) =>
      tx.query<{ org_id: string; owner_id: string; run_id: string }>(
        `SELECT r.org_id, r.owner_id, r.run_id FROM reservations r LEFT JOIN tree_runs t ON t.run_id = r.run_id
         WHERE t.run_id IS NULL AND r.reserved_at < now() - $1::bigint * interval '1 millisecond'
         ORDER BY r.reserved_at LIMIT $2`,
        [olderThanMs, most],
      ),
    );
    return rows.map((row) => ({ org: row.org_id, ownerId: row.owner_id, runId: row.run_id }));
  }
}

import type { Database } from '@runyard/persistence';

/** An approval that nobody decided in time. */
export interface DueApproval {
  org: string;
  approvalId: string;
}

/** Approvals of all orgs whose time is over: one scan finds whatever is due. */
export class DueQueries {
  constructor(private readonly db: Database) {}

  /** The longest overdue first; `now` in epoch ms. */
  due(now: number, most: number): Promise<DueApproval[]> {
    return this.db.acrossOrgs('approvals that expire', (tx) =>
      tx.query<DueApproval>(
        `SELECT org_id AS org, approval_id AS "approvalId" FROM approvals
         WHERE state = 'pending' AND expires_at <= to_timestamp($1::float8 / 1000) ORDER BY expires_at LIMIT $2`,
        [now, most],
      ),
    );
  }

  /** How many wait, and for how long the oldest of them has, in seconds. */
  async waiting(now: number): Promise<{ pending: number; oldestSeconds: number; overdue: number }> {
    const [row] = await this.db.acrossOrgs('approvals that wait', (tx) =>
      tx.query<{ pending: number; oldestSeconds: number; overdue: number }>(
        `SELECT count(*)::int AS pending, count(*) FILTER (WHERE expires_at < to_timestamp($1::float8 / 1000) - interval '1 minute')::int AS overdue,
         coalesce(greatest(0, $1::float8 / 1000 - extract(epoch FROM min(opened_at))), 0)::float8 AS "oldestSeconds"
         FROM approvals WHERE state = 'pending'`,
        [now],
      ),
    );
    return row ?? { pending: 0, oldestSeconds: 0, overdue: 0 };
  }
}

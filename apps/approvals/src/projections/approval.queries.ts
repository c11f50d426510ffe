import type { ApprovalRow, ApprovalState, Json } from '@runyard/contracts';
import { cleanText, decodeCursor, pageOf, restoreJson, restoreText } from '@runyard/persistence';
import type { Database, Page, Tx } from '@runyard/persistence';

export type { Page };

export interface ApprovalFilter {
  state: ApprovalState;
  run_id?: string;
  agent_id?: string;
  group_key?: string;
  limit: number;
  cursor?: string;
  /** Only questions about this owner's agents; null: everybody's. */
  ownerId: string | null;
}

/** RFC 3339 with milliseconds, in UTC: the text is also the sort key that cursors carry. */
const iso = (column: string): string =>
  `to_char(a.${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS ${column}`;
/** Its run waits for nothing else. */
const BLOCKING = `(a.state = 'pending' AND NOT EXISTS (
  SELECT 1 FROM approvals o WHERE o.run_id = a.run_id AND o.state = 'pending' AND o.approval_id <> a.approval_id))`;
const COLUMNS = `a.approval_id, a.kind, a.state, a.run_id, a.agent_id, a.agent_version, a.owner_id, a.step, a.call_id, a.tool,
  a.arguments, a.arguments_digest, a.rule_id, a.group_key, a.policy_version, ${iso('opened_at')}, ${iso('expires_at')},
  ${BLOCKING} AS blocking, ${iso('decided_at')}, a.decided_by, a.verdict, a.edited_arguments, a.message, a.whole_group,
  a.made_rule_id, a.withdrawn_because, a.position`;

/** Keyset of each order. Pending ones: what sets a run going first, then the oldest; history: the newest first. */
const ORDERS = {
  pending: {
    by: `${BLOCKING} DESC, a.opened_at, a.approval_id`,
    after: (at: number) =>
      `(NOT ${BLOCKING}, a.opened_at, a.approval_id) > (NOT $${at}::boolean, $${at + 1}::timestamptz, $${at + 2})`,
  },
  history: {
    by: 'a.opened_at DESC, a.approval_id',
    after: (at: number) =>
      `$${at}::boolean IS NOT NULL AND (a.opened_at < $${at + 1}::timestamptz
        OR (a.opened_at = $${at + 1}::timestamptz AND a.approval_id > $${at + 2}))`,
  },
} as const;

/** Approvals as rows. Who may see which is decided by the caller; rows of other orgs are not there at all. */
export class ApprovalQueries {
  constructor(private readonly db: Database) {}

  async list(org: string, filter: ApprovalFilter): Promise<Page<ApprovalRow>> {
    const parameters: unknown[] = [filter.state];
    const where = [`a.state = $1`];
    const equal = (column: string, value: unknown, type = 'text') => {
      if (value !== undefined && value !== null)
        where.push(`a.${column} = $${parameters.push(value)}::${type}`);
    };
    equal('run_id', filter.run_id);
    equal('agent_id', filter.agent_id);
    equal('group_key', filter.group_key === undefined ? undefined : cleanText(filter.group_key));
    equal('owner_id', filter.ownerId, 'uuid');
    const order = filter.state === 'pending' ? ORDERS.pending : ORDERS.history;
    const place = decodeCursor(filter.cursor, ['boolean', 'time', 'text']);
    if (place) {
      where.push(order.after(parameters.length + 1));
      parameters.push(...place);
    }
    const rows = await this.db.inOrg(org, (tx) =>
      tx.query<ApprovalRow>(
        `SELECT ${COLUMNS} FROM approvals a WHERE ${where.join(' AND ')} ORDER BY ${order.by} LIMIT ${filter.limit + 1}`,
        parameters,
      ),
    );
    return pageOf(rows.map(restored), filter.limit, (row) => [
      String(row.blocking),
      row.opened_at,
      row.approval_id,
    ]);
  }

  async find(org: string, approvalId: string): Promise<ApprovalRow | undefined> {
    const [row] = await this.db.inOrg(org, (tx) =>
      tx.query<ApprovalRow>(`SELECT ${COLUMNS} FROM approvals a WHERE a.approval_id = $1`, [approvalId]),
    );
    return row && restored(row);
  }
}

/** Texts as they came: what jsonb refuses was escaped. */
function restored(row: ApprovalRow): ApprovalRow {
  const text = <T>(value: T): T => (value === null ? value : (restoreJson(value as Json) as T));
  return {
    ...row,
    arguments: text(row.arguments),
    edited_arguments: text(row.edited_arguments),
    message: text(row.message),
    group_key: row.group_key === null ? null : restoreText(row.group_key),
  };
}

/** What runs have asked: the reaction's own memory, moved in its transaction (P8.2). */
export const askedCalls = {
  async note(tx: Tx, call: { org: string; runId: string; approvalId: string; groupKey: string | null }) {
    await tx.query(
      'INSERT INTO asked_calls (approval_id, org_id, run_id, group_key) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING',
      [call.approvalId, call.org, call.runId, call.groupKey === null ? null : cleanText(call.groupKey)],
    );
  },
  /** Of a run; with `groupKey` those of the group alone. */
  async of(tx: Tx, runId: string, groupKey?: string): Promise<string[]> {
    const rows = await tx.query<{ id: string }>(
      'SELECT approval_id AS id FROM asked_calls WHERE run_id = $1 AND ($2::text IS NULL OR group_key = $2) ORDER BY 1',
      [runId, groupKey === undefined ? null : cleanText(groupKey)],
    );
    return rows.map(({ id }) => id);
  },
  /** Those of some runs that have asked anything. */
  async askers(tx: Tx, runIds: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await tx.query<{ id: string }>(
      'SELECT DISTINCT run_id AS id FROM asked_calls WHERE run_id = ANY ($1)',
      [runIds],
    );
    return new Set(rows.map(({ id }) => id));
  },
  async forget(tx: Tx, runId: string): Promise<void> {
    await tx.query('DELETE FROM asked_calls WHERE run_id = $1', [runId]);
  },
};

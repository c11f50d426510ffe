import { lockKey } from '@runyard/persistence';
import type { Database, Session } from '@runyard/persistence';

/** Actions that are carried out side by side. */
const AT_ONCE = 100;
const PLACE = lockKey('run-executor', 'bulk actions');

export interface OpenBulkAction {
  org: string;
  id: string;
}

/** Bulk actions that have not ended, oldest first, of all orgs. The rows only say where to look. */
export const openBulkActions = (db: Database): Promise<OpenBulkAction[]> =>
  db.acrossOrgs('open bulk actions', (tx) =>
    tx.query<OpenBulkAction>(
      `SELECT org_id::text AS org, bulk_action_id AS id FROM bulk_actions
       WHERE state IN ('running', 'aborting') ORDER BY created_at LIMIT ${AT_ONCE}`,
    ),
  );

/**
 * The one place of who carries bulk actions out; undefined while another process has it. It ends with its connection,
 * and so with the process, whatever happened to that.
 */
export async function takeBulkPlace(db: Database): Promise<Session | undefined> {
  const session = await db.dedicated('bulk actions');
  try {
    const [row] = await session.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1) AS locked', [
      PLACE,
    ]);
    if (row?.locked) return session;
  } catch (error) {
    await session.close();
    throw error;
  }
  await session.close();
  return undefined;
}

import type { KeyRow, OrgRow, UserRow } from '@runyard/contracts';
import type { Page, Tx } from '@runyard/persistence';
import { decodeCursor, pageOf } from '@runyard/persistence';

type Read<R, Times extends keyof R> = Omit<R, Times> & { [T in Times]: Date | Extract<R[T], null> };

export async function findOrg(tx: Tx): Promise<OrgRow | null> {
  const [row] = await tx.query<Read<OrgRow, 'created_at'>>(
    'SELECT org_id, name, time_zone, retention_days, created_at FROM organizations',
  );
  return row ? { ...row, created_at: row.created_at.toISOString() } : null;
}

/** A row without position is a stub that an agent refers to; PEOPLE has yet to tell who that is. */
const USER =
  'SELECT user_id, email, name, time_zone, roles, active, created_at FROM users WHERE position IS NOT NULL';

export async function findUser(tx: Tx, userId: string): Promise<UserRow | null> {
  const [row] = await tx.query<Read<UserRow, 'created_at'>>(`${USER} AND user_id = $1`, [userId]);
  return row ? userRow(row) : null;
}

export async function emailTaken(tx: Tx, email: string, except: string | null): Promise<boolean> {
  const [row] = await tx.query<{ taken: boolean }>(
    'SELECT EXISTS (SELECT FROM users WHERE lower(email) = lower($1) AND user_id IS DISTINCT FROM $2::uuid) AS taken',
    [email, except],
  );
  return row?.taken === true;
}

/** Users by e-mail address. */
export async function listUsers(
  tx: Tx,
  filter: { limit: number; cursor?: string; active?: boolean },
): Promise<Page<UserRow>> {
  const [email, id] = decodeCursor(filter.cursor, ['text', 'uuid']) ?? [null, null];
  const rows = await tx.query<Read<UserRow, 'created_at'>>(
    `${USER} AND ($1::boolean IS NULL OR active = $1) AND ($2::text IS NULL OR (email, user_id) > ($2, $3::uuid))
     ORDER BY email, user_id LIMIT $4`,
    [filter.active ?? null, email, id, filter.limit + 1],
  );
  return pageOf(rows.map(userRow), filter.limit, (row) => [row.email, row.user_id]);
}

const userRow = (row: Read<UserRow, 'created_at'>): UserRow => ({
  ...row,
  created_at: row.created_at.toISOString(),
});

/** Keys, newest first. */
export async function listKeys(
  tx: Tx,
  filter: { limit: number; cursor?: string; user_id?: string },
): Promise<Page<KeyRow>> {
  const [before, id] = decodeCursor(filter.cursor, ['time', 'text']) ?? [null, null];
  const rows = await tx.query<Read<KeyRow, 'created_at' | 'expires_at' | 'revoked_at'>>(
    `SELECT key_id, label, roles, user_id, created_at, created_by, expires_at, revoked_at FROM api_keys
     WHERE ($1::uuid IS NULL OR user_id = $1) AND ($2::timestamptz IS NULL OR (created_at, key_id) < ($2, $3))
     ORDER BY created_at DESC, key_id DESC LIMIT $4`,
    [filter.user_id ?? null, before, id, filter.limit + 1],
  );
  return pageOf(rows.map(keyRow), filter.limit, (row) => [row.created_at, row.key_id]);
}

function keyRow(row: Read<KeyRow, 'created_at' | 'expires_at' | 'revoked_at'>): KeyRow {
  const iso = (time: Date | null) => time?.toISOString() ?? null;
  return {
    ...row,
    created_at: row.created_at.toISOString(),
    expires_at: iso(row.expires_at),
    revoked_at: iso(row.revoked_at),
  };
}

import type { Role } from '@runyard/contracts';
import type { Database } from '@runyard/persistence';

/** A key as it is presented: found by its hash alone, before it is known whose it is. */
export interface PresentedKeyRow {
  org_id: string;
  key_id: string;
  label: string;
  hash: string;
  roles: Role[];
  user_id: string | null;
  expires_at: Date | null;
  revoked_at: Date | null;
  /** Null: no such user (any more). */
  user_active: boolean | null;
  user_roles: Role[] | null;
}

/**
 * Across orgs: whose key it is, is the question. The one look past row-level security that a request of a client leads
 * to; it answers for a hash of 256 random bits, which nobody has who has not the key.
 */
export async function keyByHash(db: Database, hash: string): Promise<PresentedKeyRow | null> {
  const [row] = await db.acrossOrgs('authenticate a key', (tx) =>
    tx.query<PresentedKeyRow>(
      `SELECT k.org_id, k.key_id, k.label, k.hash, k.roles, k.user_id, k.expires_at, k.revoked_at,
         u.active AS user_active, u.roles AS user_roles
       FROM api_keys k
       LEFT JOIN users u ON u.org_id = k.org_id AND u.user_id = k.user_id AND u.position IS NOT NULL
       WHERE k.hash = $1`,
      [hash],
    ),
  );
  return row ?? null;
}

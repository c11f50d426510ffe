import type { Database, Tx } from '@runyard/persistence';
import type { AnswerStore, KeptAnswer, KeyScope, Taken } from './answer-store';

/** How long a key is remembered; published in the API description. */
export const KEY_HOURS = 24;

/** A request in progress for longer has lost its gateway; the key is free for a retry. Above every time-out of a call. */
const ABANDONED_SECONDS = 60;

/** Expired rows of the org that one request clears away: their number stays bounded without a sweep across tenants. */
const CLEARED_PER_REQUEST = 20;

interface KeyRow {
  fingerprint: string;
  answer: KeptAnswer | null;
}

const SCOPE = 'org_id = $1 AND caller = $2 AND route = $3 AND key = $4';
const valuesOf = ({ org, caller, route, key }: KeyScope) => [org, caller, route, key];

/** Kept answers in Postgres, under row-level security of the caller's org. */
export class KeptAnswers implements AnswerStore {
  constructor(private readonly db: Database) {}

  async take(scope: KeyScope, fingerprint: string): Promise<Taken> {
    return this.db.inOrg(scope.org, async (tx): Promise<Taken> => {
      await clearExpired(tx, scope.org);
      const taken = await tx.query(
        `INSERT INTO idempotency_keys AS k (org_id, caller, route, key, fingerprint) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (org_id, caller, route, key) DO UPDATE SET fingerprint = excluded.fingerprint, answer = NULL, taken_at = now()
           WHERE k.taken_at < now() - make_interval(hours => ${KEY_HOURS})
              OR (k.answer IS NULL AND k.taken_at < now() - make_interval(secs => ${ABANDONED_SECONDS}))
         RETURNING key`,
        [...valuesOf(scope), fingerprint],
      );
      if (taken.length > 0) return { state: 'taken' };
      const [row] = await tx.query<KeyRow>(
        `SELECT fingerprint, answer FROM idempotency_keys WHERE ${SCOPE}`,
        valuesOf(scope),
      );
      if (!row) return { state: 'in_progress' };
      if (row.fingerprint !== fingerprint) return { state: 'other_request' };
      return row.answer ? { state: 'answered', answer: row.answer } : { state: 'in_progress' };
    });
  }

  async keep(scope: KeyScope, fingerprint: string, answer: KeptAnswer): Promise<void> {
    const values = [...valuesOf(scope), fingerprint, JSON.stringify(answer)];
    await this.db.inOrg(scope.org, (tx) =>
      tx.query(
        `UPDATE idempotency_keys SET answer = $6 WHERE ${SCOPE} AND fingerprint = $5 AND answer IS NULL`,
        values,
      ),
    );
  }

  async release(scope: KeyScope, fingerprint: string): Promise<void> {
    const values = [...valuesOf(scope), fingerprint];
    await this.db.inOrg(scope.org, (tx) =>
      tx.query(`DELETE FROM idempotency_keys WHERE ${SCOPE} AND fingerprint = $5 AND answer IS NULL`, values),
    );
  }
}

function clearExpired(tx: Tx, org: string): Promise<unknown[]> {
  return tx.query(
    `DELETE FROM idempotency_keys WHERE ctid = ANY(ARRAY(
       SELECT ctid FROM idempotency_keys WHERE org_id = $1 AND taken_at < now() - make_interval(hours => ${KEY_HOURS})
       LIMIT ${CLEARED_PER_REQUEST} FOR UPDATE SKIP LOCKED))`,
    [org],
  );
}

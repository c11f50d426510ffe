import { blobs } from '@runyard/persistence';
import type { Database } from '@runyard/persistence';
import type { OwnerDatabase } from './owner-database.adapter';

/** A definition that was put in the last minutes may be about to be named by a run that starts. */
const JUST_PUT_MINUTES = 15;

/** Digests out of `candidates` that some commit of the org still names. Reads the org's whole archive. */
async function named(db: OwnerDatabase, org: string, candidates: readonly string[]): Promise<Set<string>> {
  if (candidates.length === 0) return new Set();
  const rows = await db.read((tx) =>
    tx.query<{ digest: string }>(
      `SELECT DISTINCT m[1] AS digest FROM archive.event_log e, regexp_matches(e.body, '"([0-9a-f]{64})"', 'g') AS m
       WHERE e.org_id = $1 AND m[1] = ANY($2)`,
      [org, [...candidates]],
    ),
  );
  return new Set(rows.map(({ digest }) => digest));
}

/** Takes away texts of an org that no commit names any more; returns how many. */
export async function removeUnnamed(
  db: OwnerDatabase,
  org: string,
  texts: Iterable<string>,
  definitions: Iterable<string>,
): Promise<number> {
  const [own, shared] = [[...texts], [...definitions]];
  const still = await named(db, org, [...own, ...shared]);
  const gone = await db.write((tx) =>
    tx.query(
      `DELETE FROM archive.blobs WHERE org_id = $1 AND (digest = ANY($2) OR (digest = ANY($3)
         AND touched_at < now() - $4 * interval '1 minute')) RETURNING digest`,
      [
        org,
        own.filter((digest) => !still.has(digest)),
        shared.filter((digest) => !still.has(digest)),
        JUST_PUT_MINUTES,
      ],
    ),
  );
  return gone.length;
}

/** Collects what nobody has named for a day, of all orgs (P9.4); returns how many. */
export async function collectBlobs(db: OwnerDatabase): Promise<number> {
  const doors: Pick<Database, 'acrossOrgs'> = { acrossOrgs: (_reason, work) => db.write(work) };
  const store = blobs(Object.assign(Object.create(db) as Database, doors));
  let collected = 0;
  for (;;) {
    const removed = await store.collect((org, digests) => named(db, org, digests));
    collected += removed;
    if (removed === 0) return collected;
  }
}

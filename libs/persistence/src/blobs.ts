import { createHash } from 'node:crypto';
import { cleanText, restoreText } from './clean-text';
import type { Database } from './types';

/** Large texts of an org, by digest. Stored before the append that names them (P9.4). */
export interface Blobs {
  /**
   * Stores a text once, or touches it; returns its digest: SHA-256 in hex over its UTF-8. A text that Postgres refuses is
   * stored cleaned and comes back as it was; its digest is that of the cleaned text.
   */
  put(org: string, text: string): Promise<string>;
  /** Undefined: never stored, erased, or another org's. */
  get(org: string, digest: string): Promise<string | undefined>;
  /**
   * Removes what nobody has named for `unnamedMs` (default 24 hours) and `isNamed` does not know; returns how many. Looks
   * at no more than 1,000 at a time.
   */
  collect(
    isNamed: (org: string, digests: string[]) => Promise<Iterable<string>>,
    unnamedMs?: number,
  ): Promise<number>;
}

const DAY_MS = 86_400_000;
/** Far below the 24 hours after which an untouched blob may be collected. */
const RECENT_MS = 600_000;
const RECENT_MOST = 20_000;
const COLLECTED_AT_ONCE = 1_000;

/** Digests that this process has just stored: a prompt that comes with every step costs one insert in ten minutes. */
class RecentPuts {
  private readonly at = new Map<string, number>();

  has(key: string): boolean {
    const at = this.at.get(key);
    return at !== undefined && performance.now() - at < RECENT_MS;
  }

  add(key: string): void {
    this.at.delete(key);
    this.at.set(key, performance.now());
    const [oldest] = this.at.keys();
    if (this.at.size > RECENT_MOST && oldest !== undefined) this.at.delete(oldest);
  }
}

const STORE = `
  INSERT INTO archive.blobs (org_id, digest, body, bytes) VALUES ($1, $2, $3, $4)
  ON CONFLICT (org_id, digest) DO UPDATE SET touched_at = now()`;

/** Locked rows are being named at this moment. */
const CANDIDATES = `
  SELECT org_id, digest FROM archive.blobs WHERE touched_at < now() - $1 * interval '1 millisecond'
  ORDER BY touched_at LIMIT ${COLLECTED_AT_ONCE} FOR UPDATE SKIP LOCKED`;

interface Candidate {
  org_id: string;
  digest: string;
}

const byOrg = (candidates: readonly Candidate[]): Map<string, string[]> => {
  const digests = new Map<string, string[]>();
  for (const { org_id, digest } of candidates) digests.set(org_id, [...(digests.get(org_id) ?? []), digest]);
  return digests;
};

class PostgresBlobs implements Blobs {
  private readonly recent = new RecentPuts();

  constructor(private readonly db: Database) {}

  async put(org: string, text: string): Promise<string> {
    const cleaned = cleanText(text);
    const digest = createHash('sha256').update(cleaned).digest('hex');
    const key = `${org} ${digest}`;
    if (this.recent.has(key)) return digest;
    await this.db.inOrg(org, (tx) => tx.query(STORE, [org, digest, cleaned, Buffer.byteLength(cleaned)]));
    this.recent.add(key);
    return digest;
  }

  async get(org: string, digest: string): Promise<string | undefined> {
    const [row] = await this.db.inOrg(org, (tx) =>
      tx.query<{ body: string }>('SELECT body FROM archive.blobs WHERE org_id = $1 AND digest = $2', [
        org,
        digest,
      ]),
    );
    return row && restoreText(row.body);
  }

  async collect(
    isNamed: (org: string, digests: string[]) => Promise<Iterable<string>>,
    unnamedMs = DAY_MS,
  ): Promise<number> {
    const old = await this.db.acrossOrgs('find old blobs', (tx) =>
      tx.query<Candidate>(CANDIDATES, [unnamedMs]),
    );
    let removed = 0;
    for (const [org, digests] of byOrg(old)) {
      const named = new Set(await isNamed(org, digests));
      removed += await this.settle(org, digests, named, unnamedMs);
    }
    return removed;
  }

  /** What is named counts as touched, so that the next round looks at others; what was touched meanwhile stays. */
  private settle(
    org: string,
    digests: readonly string[],
    named: ReadonlySet<string>,
    unnamedMs: number,
  ): Promise<number> {
    const unnamed = digests.filter((digest) => !named.has(digest));
    return this.db.acrossOrgs('collect blobs', async (tx) => {
      await tx.query('UPDATE archive.blobs SET touched_at = now() WHERE org_id = $1 AND digest = ANY($2)', [
        org,
        [...named],
      ]);
      const gone = await tx.query(
        `DELETE FROM archive.blobs WHERE org_id = $1 AND digest = ANY($2)
         AND touched_at < now() - $3 * interval '1 millisecond' RETURNING digest`,
        [org, unnamed, unnamedMs],
      );
      return gone.length;
    });
  }
}

/** The blobs of this database. One object per process and service: it remembers what it has just stored. */
export const blobs = (db: Database): Blobs => new PostgresBlobs(db);

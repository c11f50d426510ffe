import { archiveProjection, BODY_ENCODING } from './archive.projection';
import { readCheckpoint } from './checkpoints';
import { toSafeInteger } from './integers';
import { pause } from './projection-lock';
import type { CommitSource, Database, ProjectedCommit, ReadingPace } from './types';

const PAGE = 500;
/** How soon a reader without an end sees what was archived meanwhile. */
const LOOK_MS = 250;

export interface ArchivedRow {
  sequence: bigint;
  subject: string;
  commit_id: string;
  stored_ms: number;
  headers: Record<string, string>;
  body: string;
}

/** Reads {@link ArchivedRow}s. */
export const SELECT_ARCHIVED = `
  SELECT sequence, subject, commit_id, (extract(epoch FROM stored_at) * 1000)::float8 AS stored_ms, headers, body
  FROM archive.event_log`;

const SELECT = `${SELECT_ARCHIVED}
  WHERE stream = $1 AND sequence > $2 AND sequence <= $3 AND ($4::text IS NULL OR subject ~ $4)
  ORDER BY sequence LIMIT ${PAGE}`;

/** A subject pattern of the bus as a regular expression of Postgres: `*` is one token, `>` at the end is one or more. */
export function patternToRegex(pattern: string): string {
  const tokens = pattern
    .split('.')
    .map((token) =>
      token === '*' ? '[^.]+' : token === '>' ? '.+' : token.replace(/[^A-Za-z0-9_-]/g, '\\$&'),
    );
  return `^${tokens.join('\\.')}$`;
}

/** A commit as it lay in its stream. */
export function commitOf(stream: string, row: ArchivedRow): ProjectedCommit {
  const { [BODY_ENCODING]: encoding, ...headers } = row.headers;
  return {
    stream,
    subject: row.subject,
    sequence: toSafeInteger(row.sequence),
    commitId: row.commit_id,
    storedAt: Math.round(row.stored_ms),
    headers,
    body: Buffer.from(row.body, encoding === 'base64' ? 'base64' : 'utf8'),
  };
}

class ArchiveSource implements CommitSource {
  constructor(
    private readonly db: Database,
    private readonly stream: string,
    private readonly pattern: string | null,
  ) {}

  /** The archive ends at its checkpoint, not at its last row: what was erased in between is gone on purpose. */
  async state(): Promise<{ firstSequence: number; lastSequence: number; incarnation: string }> {
    return this.db.acrossOrgs('state of the archive', async (tx) => {
      const checkpoint = await readCheckpoint(tx, archiveProjection(this.stream));
      const [row] = await tx.query<{ first: bigint | null }>(
        'SELECT min(sequence) AS first FROM archive.event_log WHERE stream = $1',
        [this.stream],
      );
      return {
        firstSequence: toSafeInteger(row?.first ?? 0),
        lastSequence: checkpoint?.position ?? 0,
        incarnation: checkpoint?.incarnation ?? '',
      };
    });
  }

  async *read(after: number, signal: AbortSignal, until?: number): AsyncGenerator<ProjectedCommit> {
    for await (const batch of this.readBatches(after, signal, undefined, until))
      for (const commit of batch) {
        if (signal.aborted) return;
        yield commit;
      }
  }

  async *readBatches(
    after: number,
    signal: AbortSignal,
    _pace?: ReadingPace,
    until?: number,
  ): AsyncGenerator<ProjectedCommit[]> {
    let position = after;
    while (!signal.aborted) {
      const rows = await this.page(position, until);
      if (rows.length > 0) yield rows.map((row) => commitOf(this.stream, row));
      position = toSafeInteger(rows.at(-1)?.sequence ?? position);
      if (rows.length === PAGE) continue;
      if (until !== undefined) return;
      await pause(LOOK_MS, signal);
    }
  }

  private page(after: number, until?: number): Promise<ArchivedRow[]> {
    const last = until ?? Number.MAX_SAFE_INTEGER;
    return this.db.acrossOrgs('read the archive', (tx) =>
      tx.query<ArchivedRow>(SELECT, [this.stream, after, last, this.pattern]),
    );
  }
}

/**
 * A stream as the archive holds it: for rebuilds, for verification, and for what the stream itself has dropped. With
 * `until`, `read` ends there; without, it goes on with what is archived later.
 */
export function archiveSource(db: Database, stream: string, filter?: string): CommitSource {
  return new ArchiveSource(db, stream, filter === undefined ? null : patternToRegex(filter));
}

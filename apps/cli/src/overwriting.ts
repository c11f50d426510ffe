import type { LogStream } from '@runyard/contracts';
import { subjectOf } from '@runyard/contracts';
import { streamOperations } from '@runyard/event-log';
import type { EventLog, StreamOperations } from '@runyard/event-log';
import type { Installation } from './installation';
import type { OwnerDatabase } from './owner-database.adapter';

/** Messages that are overwritten side by side; the server syncs each. */
const AT_ONCE = 32;

/** What was overwritten. */
export interface Overwritten {
  messages: number;
  archived: number;
}

/**
 * Overwrites commits message by message, in stream and archive (P9.2), and remembers the blobs that they named. Every step
 * may be repeated.
 */
export class Overwriting {
  readonly done: Overwritten = { messages: 0, archived: 0 };
  /** Digests of texts that overwritten commits named. */
  readonly texts = new Set<string>();
  /** Digests of definitions, which many runs share. */
  readonly definitions = new Set<string>();

  private constructor(
    private readonly db: OwnerDatabase,
    private readonly log: EventLog,
    private readonly operations: StreamOperations,
  ) {}

  static async open(installation: Installation): Promise<Overwriting> {
    const { log, connection } = await installation.bus();
    return new Overwriting(installation.db, log, streamOperations(connection));
  }

  close(): void {
    this.operations.close();
  }

  /** Every commit of an aggregate; with `keepLast` all but its last one, which is its tombstone. */
  async aggregate(stream: LogStream, subject: string, keepLast = false): Promise<void> {
    const kept = keepLast ? await this.log.lastSequence(subject) : 0;
    const archived = await this.archivedOf(stream, subject, kept);
    await this.overwrite(stream, archived);
    // What the archive has not (yet) got, the stream itself knows.
    const left = (await this.log.read(subject)).filter(({ sequence }) => sequence !== kept);
    for (const commit of left) this.note(JSON.stringify(commit.events));
    await this.overwrite(
      stream,
      left.map(({ sequence }) => sequence),
    );
    await this.forget(stream, subject, kept);
  }

  /** Logs of runs that were erased before: an interrupted erasure left them behind its event. */
  async emptied(org: string, runIds: readonly string[]): Promise<void> {
    for (const runId of runIds) await this.aggregate('RUNS', subjectOf('runs', org, runId));
  }

  private async archivedOf(stream: string, subject: string, kept: number): Promise<number[]> {
    const rows = await this.db.read((tx) =>
      tx.query<{ sequence: string; body: string }>(
        'SELECT sequence, body FROM archive.event_log WHERE stream = $1 AND subject = $2 AND sequence <> $3 ORDER BY sequence',
        [stream, subject, kept],
      ),
    );
    for (const { body } of rows) this.note(body);
    return rows.map(({ sequence }) => Number(sequence));
  }

  private async overwrite(stream: string, sequences: readonly number[]): Promise<void> {
    for (let from = 0; from < sequences.length; from += AT_ONCE) {
      const part = sequences.slice(from, from + AT_ONCE);
      const erased = await Promise.all(part.map((sequence) => this.operations.erase(stream, sequence)));
      this.done.messages += erased.filter(Boolean).length;
    }
  }

  private async forget(stream: string, subject: string, kept: number): Promise<void> {
    const gone = await this.db.write((tx) =>
      tx.query(
        'DELETE FROM archive.event_log WHERE stream = $1 AND subject = $2 AND sequence <> $3 RETURNING 1',
        [stream, subject, kept],
      ),
    );
    this.done.archived += gone.length;
  }

  private note(body: string): void {
    for (const [, name, digest] of body.matchAll(/"(\w+)":"([0-9a-f]{64})"/g))
      if (digest && name === 'definition') this.definitions.add(digest);
      else if (digest && name === 'digest') this.texts.add(digest);
  }
}

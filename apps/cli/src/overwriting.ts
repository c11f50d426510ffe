import type { LogStream } from '@runyard/contracts';
import { subjectOf } from '@runyard/contracts';
import { streamOperations } from '@runyard/event-log';
import type { EventLog, StreamOperations } from '@runyard/event-log';
import type { Installation } from './installation';
import type { OwnerDatabase } from './owner-database.adapter';

/** Messages that are overwritten side by side; the server syncs each. */
const AT_ONCE = 32;

/** What was overwritten, and how much of what. */
export interface Overwritten {
  messages: number;
  archived: number;
  tasks: number;
  documents: number;
  questions: number;
  rules: number;
  deadLetters: number;
  keptAnswers: number;
  replays: number;
}

const NOTHING: Overwritten = {
  messages: 0,
  archived: 0,
  tasks: 0,
  documents: 0,
  questions: 0,
  rules: 0,
  deadLetters: 0,
  keptAnswers: 0,
  replays: 0,
};

/**
 * Overwrites commits message by message, in stream and archive (P9.2), and remembers the blobs that they named. Every step
 * may be repeated.
 */
export class Overwriting {
  readonly done: Overwritten = { ...NOTHING };
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
    await this.before(stream, subject, keepLast ? await this.log.lastSequence(subject) : Infinity);
  }

  /** Every commit of an aggregate that lies before a sequence. */
  async before(stream: LogStream, subject: string, end: number): Promise<void> {
    const rows = await this.db.read((tx) =>
      tx.query<{ sequence: string }>(
        'SELECT sequence FROM archive.event_log WHERE stream = $1 AND subject = $2 AND sequence < $3::float8 ORDER BY sequence',
        [stream, subject, end],
      ),
    );
    // What the archive has not (yet) got, the stream itself knows.
    const left = (await this.log.read(subject)).filter(({ sequence }) => sequence < end);
    for (const commit of left) this.note(JSON.stringify(commit.events));
    const sequences = [
      ...rows.map(({ sequence }) => Number(sequence)),
      ...left.map(({ sequence }) => sequence),
    ];
    await this.commits(stream, subject, [...new Set(sequences)]);
  }

  /** Single commits of an aggregate. */
  async commits(stream: LogStream, subject: string, sequences: readonly number[]): Promise<void> {
    const which = [stream, subject, [...sequences]];
    const archived = await this.db.read((tx) =>
      tx.query<{ body: string }>(
        'SELECT body FROM archive.event_log WHERE stream = $1 AND subject = $2 AND sequence = ANY($3)',
        which,
      ),
    );
    for (const { body } of archived) this.note(body);
    await this.overwrite(stream, sequences);
    const gone = await this.db.write((tx) =>
      tx.query(
        'DELETE FROM archive.event_log WHERE stream = $1 AND subject = $2 AND sequence = ANY($3) RETURNING 1',
        which,
      ),
    );
    this.done.archived += gone.length;
  }

  /** Logs of runs that were erased before: an interrupted erasure left them behind its event. */
  async emptied(org: string, runIds: readonly string[]): Promise<void> {
    for (const runId of runIds) await this.aggregate('RUNS', subjectOf('runs', org, runId));
  }

  private async overwrite(stream: string, sequences: readonly number[]): Promise<void> {
    for (let from = 0; from < sequences.length; from += AT_ONCE) {
      const part = sequences.slice(from, from + AT_ONCE);
      const erased = await Promise.all(part.map((sequence) => this.operations.erase(stream, sequence)));
      this.done.messages += erased.filter(Boolean).length;
    }
  }

  private note(body: string): void {
    for (const [, name, digest] of body.matchAll(/"(\w+)":"([0-9a-f]{64})"/g))
      if (digest && name === 'definition') this.definitions.add(digest);
      else if (digest && name === 'digest') this.texts.add(digest);
  }
}

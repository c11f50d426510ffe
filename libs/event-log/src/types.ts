import type { Pace } from './pacing';
import type { Actor, CloudEvent, LogStream, NewEvent } from '@runyard/contracts';

/** "The aggregate must not exist yet": the expectation of a first append. */
export const NOTHING_YET = 0;

/** Metadata that goes with every event of a commit. */
export interface CommitMeta {
  actor: Actor;
  /** Service that decided, e.g. `run-executor`; becomes the CloudEvents `source`. */
  source: string;
  causationId?: string;
  correlationId?: string;
  traceparent?: string;
}

/** Events decided together; appended as one message, or not at all. */
export interface NewCommit {
  /** `runyard.<context>.<slot>.<org>.<id>`, from `subjectOf`. */
  subject: string;
  /** Stream sequence of the subject's last commit, or NOTHING_YET. */
  expected: number;
  /** Commands decided together may differ in who asked: an event's own `meta` goes before the commit's. */
  events: readonly (NewEvent & { meta?: Partial<CommitMeta> })[];
  meta: CommitMeta;
  /** Give the same id again to repeat an append whose outcome is unknown (LogUnavailable); default: a new random one. */
  commitId?: string;
  /** Epoch ms of the aggregate's last event; event times never go below it (P1.3). */
  notBefore?: number;
  /** Epoch ms as of which the events were decided; they carry it. Default: the clock at the append. */
  at?: number;
}

export interface Appended {
  stream: LogStream;
  sequence: number;
  commitId: string;
  /** Epoch ms that all events of the commit carry. */
  time: number;
  /** True where a lost acknowledgement or a conflict was resolved by finding our own commit in the log. */
  recovered: boolean;
}

/** One message of a log stream, decoded. */
export interface Commit {
  stream: LogStream;
  subject: string;
  sequence: number;
  commitId: string;
  /** When the server stored it, epoch ms. */
  storedAt: number;
  events: CloudEvent<unknown>[];
}

/** One message of a log stream as it lies there; `body` is not parsed. What the archive keeps. */
export interface RawCommit {
  stream: LogStream;
  subject: string;
  sequence: number;
  commitId: string;
  storedAt: number;
  headers: Record<string, string>;
  body: Uint8Array;
}

export interface StreamState {
  firstSequence: number;
  lastSequence: number;
  /** Changes when a stream was created anew: part of checkpoints and cursors (P9.3). */
  incarnation: string;
}

/** Somebody else appended first; `actual` is the subject's last sequence as far as known. Retry: read, decide anew. */
export class VersionConflict extends Error {
  constructor(
    readonly subject: string,
    readonly expected: number,
    readonly actual: number | undefined,
  ) {
    super(`${subject} is no longer at ${expected}${actual === undefined ? '' : ` but at ${actual}`}`);
  }
}

/** The commit is larger than MAX_COMMIT_BYTES; store large content as a blob and name its digest. Never retried. */
export class CommitTooLarge extends Error {
  constructor(
    readonly subject: string,
    readonly bytes: number,
  ) {
    super(`A commit of ${bytes} bytes to ${subject} is over the limit; store large content as a blob first`);
  }
}

/**
 * The log did not answer within the time limit, or it is full. Whether a commit is stored is not known; appending again
 * with the same `commitId` is safe (P1.4: facts are retried without bound).
 */
export class LogUnavailable extends Error {
  constructor(
    message: string,
    readonly commitId?: string,
  ) {
    super(message);
  }
}

/** A message on a log stream that is no commit of ours. The aggregate that holds it is refused (P8.9). */
export class BrokenCommit extends Error {
  constructor(
    readonly stream: string,
    readonly subject: string,
    readonly sequence: number,
    reason: string,
  ) {
    super(`${stream} ${sequence} (${subject}) is not a commit: ${reason}`);
  }
}

/** A reader asked for a position the stream does not reach (lost tail or created anew): stop and raise an alarm. */
export class CheckpointAhead extends Error {
  constructor(
    readonly stream: string,
    readonly checkpoint: number,
    readonly state: StreamState,
  ) {
    super(
      `Checkpoint ${checkpoint} is ahead of ${stream}, which ends at ${state.lastSequence}; restore the stream from the archive`,
    );
  }
}

export interface TailOptions {
  /** Sequence of the last commit that the reader has; 0 for none. */
  after: number;
  /** Subject pattern; undefined: the whole stream. */
  filter?: string;
  /** Undefined: each commit comes as soon as it is stored. */
  pace?: Pace;
  signal: AbortSignal;
}

/** The append-only log. One per process; every append of the process goes through here. */
export interface EventLog {
  /**
   * Appends one commit. Safe to lose the acknowledgement: retried with the same commit id and, on a conflict, resolved by
   * reading back (P1.2). Throws VersionConflict, CommitTooLarge, LogUnavailable.
   */
  append(commit: NewCommit): Promise<Appended>;
  /** Every commit of a subject (or of an org in a context: `orgSubjects`) with sequence > after, oldest first, from the leader. Reads of long histories are batched. */
  read(subject: string, after?: number): Promise<Commit[]>;
  /** Sequence of the subject's last commit; 0 when it has none. One round trip. */
  lastSequence(subject: string): Promise<number>;
  /** The subject's last commit, from the leader; undefined when it has none. One round trip. */
  last(subject: string): Promise<Commit | undefined>;
  state(stream: LogStream): Promise<StreamState>;
  /**
   * Raw commits of a stream from `after` + 1 on, in order, without gaps, for ever (ordered consumer); ends when `signal`
   * aborts. Throws CheckpointAhead. `filter` is a subject pattern.
   */
  tail(stream: LogStream, options: TailOptions): AsyncIterable<RawCommit>;
  /** As `tail`, but everything that has arrived at a time: for readers that write in batches. */
  tailBatches(stream: LogStream, options: TailOptions): AsyncIterable<RawCommit[]>;
  /**
   * Calls back when something was published to a subject. A mere wake-up: the message may have been refused or be a
   * duplicate, so read the log, never the message (architecture, section 3). An exact subject is also woken after a
   * reconnect, when something may have been missed. Returns an unsubscriber.
   */
  onAppend(subjectPattern: string, wake: (subject: string) => void): () => void;
}

/** What operators should hear of; the connection's owner writes it to its log. Bodies are never part of it. */
export type Notice =
  | { kind: 'disconnected' | 'reconnected' | 'slow_consumer'; detail: string }
  | { kind: 'tail_resumed'; stream: string; after: number; detail: string }
  | { kind: 'consumer_recreated'; queue: string; durable: string; detail: string }
  | {
      kind: 'attempt_failed' | 'dead_lettered';
      queue: string;
      durable: string;
      sequence: number;
      attempt: number;
      detail: string;
    };

export type { CloudEvent };

/** One transaction's door to the database. Positional parameters (`$1`). int8 comes back as bigint. */
export interface Tx {
  query<Row = Record<string, unknown>>(sql: string, params?: readonly unknown[]): Promise<Row[]>;
}

/**
 * A service's two doors to its rows. `inOrg` is the way to a tenant's rows: one transaction in which row-level
 * security sees that org and no other. `acrossOrgs` is for projectors and sweeps, under a second role; lint lists the
 * files that may call it. Neither takes a second connection inside a transaction (it throws).
 */
export interface Database {
  inOrg<T>(org: string, work: (tx: Tx) => Promise<T>): Promise<T>;
  acrossOrgs<T>(reason: string, work: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /**
   * A connection of its own under the second role, outside the pools: for session locks, which must neither end with a
   * pool's recycling nor stay behind on a pooled connection (case C81).
   */
  dedicated(reason: string): Promise<Session>;
  close(): Promise<void>;
}

export interface TransactionOptions {
  /** All statements see the database as it was at the first one. */
  repeatableRead?: boolean;
  /** False: the commit may be lost if the database crashes (never half of it). For what a checkpoint repeats. */
  synchronousCommit?: boolean;
  /**
   * The same statements come again and again, for few rows each: they are planned once a connection, and rows are found by
   * index even where the table was small when that was done.
   */
  repeated?: boolean;
}

/** One connection, held until it is closed. */
export interface Session extends Tx {
  /** Aborts when the connection is gone, and its locks with it. */
  readonly lost: AbortSignal;
  /** Ends the connection; the server frees its locks. Never throws. */
  close(): Promise<void>;
}

/** A commit as a projection reads it, whatever it was read from (stream or archive). */
export interface ProjectedCommit {
  stream: string;
  subject: string;
  sequence: number;
  commitId: string;
  storedAt: number;
  headers: Record<string, string>;
  body: Uint8Array;
}

/** Maps a batch of commits to statements. Pure but for the statements: no clock, no network, no randomness. */
export interface Projection {
  /** Data: a literal that is listed in the service's README. */
  name: string;
  /** A changed meaning is a new version, rebuilt beside the old one. */
  version: number;
  stream: string;
  /** Subject pattern; undefined: the whole stream. */
  filter?: string;
  /** Schema that holds its checkpoint. Default: the service's own. */
  checkpointSchema?: string;
  /**
   * How long commits may wait for others to be applied with them, milliseconds; default 0. A transaction has a price of
   * its own, whatever it holds. Who waits for a position (`positionReached`, in this process) is not kept waiting.
   */
  gatherMs?: number;
  /**
   * Whether a commit says anything to it; default: every one does. The others are passed by: `apply` does not get them,
   * and where nothing else came the checkpoint follows a moment later, without a transaction for each batch. Pure.
   */
  concerns?(commit: ProjectedCommit): boolean;
  /** `apply` acts outside of its transaction as well, so that it waits until the checkpoint has moved in it (P8.2). */
  reacts?: boolean;
  /** Applies commits in order. Runs in the transaction that moves the checkpoint. */
  apply(tx: Tx, commits: readonly ProjectedCommit[]): Promise<void>;
}

/** Where a projection reads from; event-log implements it over a stream, tests and rebuilds over the archive. */
export interface CommitSource {
  state(): Promise<{ firstSequence: number; lastSequence: number; incarnation: string }>;
  /** Commits after `after` in order; ends when `signal` aborts. With `until` it may end after that sequence. */
  read(after: number, signal: AbortSignal, until?: number): AsyncIterable<ProjectedCommit>;
  /** As `read`, everything that has arrived at a time: one step of iteration a commit is dear where thousands come a second. */
  readBatches?(
    after: number,
    signal: AbortSignal,
    pace?: ReadingPace,
    /** It may end after this sequence, as `read` may. */
    until?: number,
  ): AsyncIterable<readonly ProjectedCommit[]>;
}

/** Commits may gather at the source for `gatherMs` and come together, unless somebody waits for them. */
export interface ReadingPace {
  readonly gatherMs: number;
  onHurry(hurry: () => void): () => void;
}

/** What a running projector says of itself. */
export interface ProjectorStatus {
  projection: string;
  position: number;
  state: 'waiting_for_lock' | 'running' | 'faulted' | 'stopped';
  /** Why it stopped, where it is faulted. */
  fault: string | null;
}

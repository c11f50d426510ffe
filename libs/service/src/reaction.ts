import { deadSubject } from '@runyard/contracts';
import type { LogStream } from '@runyard/contracts';
import { LogUnavailable, UnknownEvent, decodeCommit } from '@runyard/event-log';
import type { Commit, RawCommit, WorkQueues } from '@runyard/event-log';
import { isPassing } from '@runyard/persistence';
import type { ProjectedCommit, Projection, Tx } from '@runyard/persistence';
import type { Logger } from './logger';

/**
 * Events that make a service append elsewhere (P8.2). The order is: react (idempotent appends, each acknowledged), then
 * the checkpoint moves. A crash between the two repeats the reaction, so `react` must come to nothing where it came to
 * its end before; a crash before leaves it to the next start. One instance runs it at a time.
 */
export interface Reaction {
  /** Data: a literal, listed in the service's README; the checkpoint is kept under it. */
  name: string;
  version: number;
  stream: LogStream;
  /** Subject pattern; undefined: the whole stream. */
  filter?: string;
  /** `tx` sees the service's rows of all orgs; it is the transaction that moves the checkpoint. */
  react(commit: Commit, tx: Tx): Promise<void>;
}

/** Attempts at a commit that fails for reasons of its own before it is given up as a dead letter. */
const ATTEMPTS = 3;
/** Commits a transaction: their appends must fit into the time that a transaction may take. */
export const REACTION_BATCH = 20;

/** A reaction as a projection: lock, order and checkpoint are the same; only what is done with a commit differs. */
export function reactionProjection(reaction: Reaction, queues: WorkQueues, logger: Logger): Projection {
  const { name, version, stream, filter } = reaction;
  return {
    name,
    version,
    stream,
    filter,
    reacts: true,
    async apply(tx, commits) {
      for (const commit of commits) await reactTo(commit, tx);
    },
  };

  async function reactTo(raw: ProjectedCommit, tx: Tx): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await reaction.react(decodeCommit(raw as RawCommit), tx);
      } catch (error) {
        // The log or the database is away, or a statement failed and took the transaction with it: all is done again.
        if (isWorthRepeating(error)) throw error;
        if (attempt === ATTEMPTS) return buryCommit(reaction, raw, error, { queues, logger });
      }
    }
  }
}

/** Poison goes to the dead letters, and the reaction goes on: one aggregate must not stop all others. */
export async function buryCommit(
  reaction: Pick<Reaction, 'name' | 'stream'>,
  commit: ProjectedCommit,
  error: unknown,
  { queues, logger }: { queues: WorkQueues; logger: Logger },
): Promise<void> {
  const { name, stream } = reaction;
  const reason = error instanceof Error ? error.message : String(error);
  logger.error(
    { err: error, reaction: name, stream, sequence: commit.sequence },
    'a reaction gave up on a commit',
  );
  const subject = deadSubject(stream, name);
  await queues.publish(
    subject,
    { stream, sequence: commit.sequence, subject: commit.subject },
    deadHeaders(reaction, commit, reason),
  );
}

/**
 * Headers as every dead letter has them. `Subject` is that of the dead letter itself: putting the event back on its
 * stream, as a retry does with a queue's message, would append it a second time.
 */
function deadHeaders(
  { name, stream }: Pick<Reaction, 'name' | 'stream'>,
  commit: ProjectedCommit,
  reason: string,
): Record<string, string> {
  const facts = {
    Stream: stream,
    Consumer: name,
    Sequence: String(commit.sequence),
    Subject: deadSubject(stream, name),
    Attempts: String(ATTEMPTS),
    Reason: encodeURI(reason.slice(0, 1_000).replaceAll(/\p{Surrogate}/gu, '\ufffd')),
    First: new Date(commit.storedAt).toISOString(),
    Last: new Date().toISOString(),
  };
  return Object.fromEntries(
    Object.entries(facts).map(([header, value]) => [`Runyard-Dead-${header}`, value]),
  );
}

/** An aggregate with an event that only a newer version knows says `unavailable` too, but would hold up all others until then. */
export function isWorthRepeating(error: unknown): boolean {
  if (error instanceof UnknownEvent) return false;
  return error instanceof LogUnavailable || isPassing(error) || isSqlError(error);
}

/**
 * Does a reaction's work on each of several aggregates: one that cannot be decided about does not keep the others from
 * theirs. Throws its error at the end.
 */
export async function onEach<T>(targets: readonly T[], work: (target: T) => Promise<unknown>): Promise<void> {
  const failures: unknown[] = [];
  for (const target of targets) {
    try {
      await work(target);
    } catch (error) {
      if (isWorthRepeating(error)) throw error;
      failures.push(error);
    }
  }
  if (failures.length) throw failures[0];
}

const isSqlError = (error: unknown): boolean => error instanceof Error && 'severity' in error;

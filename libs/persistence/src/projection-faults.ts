import { types } from 'node:util';
import type { ProjectedCommit } from './types';

/** A commit that the projection cannot apply. Never skipped: the projector stays before it and tries again. */
export class PoisonCommit extends Error {
  constructor(
    readonly projection: string,
    readonly commit: Pick<ProjectedCommit, 'stream' | 'sequence' | 'subject' | 'commitId'>,
    eventTypes: string,
    cause: unknown,
  ) {
    super(
      `${projection} cannot apply ${eventTypes} at ${commit.stream} ${commit.sequence} (${commit.subject}): ${messageOf(cause)}`,
      { cause },
    );
  }
}

/** Another projector moved the checkpoint: this one lost its lock without noticing. It rolls back and starts again. */
export class LockLost extends Error {}

/** A fault is tried again after this, doubled each time: restored streams and repaired rows heal it without a restart. */
export const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 30_000;
/** A database or log that is away comes back at any moment: never wait long for it. */
const LONGEST_PASSING_PAUSE_MS = 2_000;

/** Milliseconds until a projector starts again after a fault that came so many times before. */
export const pauseAfter = (error: unknown, failures: number): number =>
  Math.min(
    FIRST_PAUSE_MS * 2 ** failures,
    error instanceof PoisonCommit ? LONGEST_PAUSE_MS : LONGEST_PASSING_PAUSE_MS,
  );

/** An error may come from another realm (jest's sandbox); what it says is what counts. */
export const messageOf = (error: unknown): string =>
  types.isNativeError(error) ? error.message : String(error);

/** Types of a commit's events, for people; only read when something went wrong. */
export function eventTypesOf({ body }: ProjectedCommit): string {
  try {
    const events: unknown = JSON.parse(Buffer.from(body).toString());
    if (Array.isArray(events))
      return events.map((event: { type?: unknown }) => String(event?.type)).join(', ');
  } catch {
    // Said below.
  }
  return 'a commit that is no batch of events';
}

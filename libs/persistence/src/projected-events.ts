import { upcast } from '@runyard/contracts';
import type { Actor, CloudEvent, DomainEvent } from '@runyard/contracts';
import type { ProjectedCommit } from './types';

/** An event as a projection sees it: upcast to its newest shape, with its place. */
export interface ProjectedEvent<E extends DomainEvent = DomainEvent> {
  event: E;
  org: string;
  /** Id of the aggregate. */
  aggregate: string;
  sequence: number;
  index: number;
}

/** A commit that is no batch of events, or of a shape that no upcaster lifts. */
export class UnreadableCommit extends Error {}

const NAMED = '"runyard.';
const VERSION = '.v';
/** Readers of one stream in one process share their commits: each is searched once. */
const named = new WeakMap<Uint8Array, ReadonlySet<string>>();

/** What stands in a body where names of events stand; texts of events may look the same. */
function namesIn(body: Uint8Array): ReadonlySet<string> {
  const known = named.get(body);
  if (known) return known;
  const found = new Set<string>();
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  for (let at = bytes.indexOf(NAMED); at >= 0; at = bytes.indexOf(NAMED, at + 1)) {
    const start = at + NAMED.length;
    const end = bytes.indexOf(VERSION, start);
    if (end < 0) break;
    if (end - start <= LONGEST_NAME) found.add(bytes.toString('latin1', start, end));
  }
  named.set(body, found);
  return found;
}
const LONGEST_NAME = 100;

/**
 * Whether a commit may hold an event of one of these names: a look at its bytes, far cheaper than reading it. For
 * projections that most commits of their stream do not concern.
 */
export function mayHold({ body }: Pick<ProjectedCommit, 'body'>, names: Iterable<string>): boolean {
  const held = namesIn(body);
  for (const name of names) if (held.has(name)) return true;
  return false;
}

function batchOf({ stream, sequence, body }: ProjectedCommit): CloudEvent<unknown>[] {
  const batch: unknown = JSON.parse(
    Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'),
  );
  if (!Array.isArray(batch)) throw new UnreadableCommit(`${stream} ${sequence} holds no batch of events`);
  return batch as CloudEvent<unknown>[];
}

/**
 * The events of a commit that a projection knows; unknown types are skipped (P8.9). `known` is a table such as RUN_EVENTS.
 * Throws UnreadableCommit or SyntaxError on what is no commit of ours, which stops the projector.
 */
export function eventsOf<E extends DomainEvent = DomainEvent>(
  commit: ProjectedCommit,
  known: Readonly<Record<string, unknown>>,
): ProjectedEvent<E>[] {
  const isKnown = (name: string) => Object.hasOwn(known, name);
  return batchOf(commit).flatMap((event, index) => {
    const { name, data, known: readable } = upcast(event, isKnown);
    if (!readable) return [];
    const lifted = { type: name, data, time: Date.parse(event.time), actor: event.actor as Actor } as E;
    return [{ event: lifted, org: event.org, aggregate: event.subject, sequence: commit.sequence, index }];
  });
}

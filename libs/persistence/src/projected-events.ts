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

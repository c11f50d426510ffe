import type { CloudEvent, DomainEvent } from '@runyard/contracts';
import { currentVersion, eventType, upcast } from '@runyard/contracts';
import type { Commit, NewCommit, RawCommit } from './types';
import { BrokenCommit } from './types';

/** Names of the events that a reader knows: a table such as RUN_EVENTS, or a predicate. */
export type KnownEvents = Readonly<Record<string, true>> | ((name: string) => boolean);

export const MESSAGE_ID = 'Nats-Msg-Id';

/** Body of a commit: a CloudEvents JSON batch. Every event carries the same `time` (epoch ms). */
export function encodeCommit(
  commit: NewCommit,
  commitId: string,
  org: string,
  aggregate: string,
  time: number,
): Buffer {
  const at = new Date(time).toISOString();
  const events = commit.events.map((event, index): CloudEvent<unknown> => {
    const meta = event.meta ? { ...commit.meta, ...event.meta } : commit.meta;
    return {
      specversion: '1.0',
      id: `${commitId}.${index}`,
      source: meta.source,
      type: eventType(event.type, currentVersion(event.type)),
      subject: aggregate,
      time: at,
      datacontenttype: 'application/json',
      org,
      actor: meta.actor,
      causationid: meta.causationId,
      correlationid: meta.correlationId,
      traceparent: meta.traceparent,
      data: event.data,
    };
  });
  return Buffer.from(JSON.stringify(events));
}

/** Parses a raw commit. Throws BrokenCommit on anything that is no batch of events. */
export function decodeCommit(raw: RawCommit): Commit {
  const { stream, subject, sequence, commitId, storedAt } = raw;
  return { stream, subject, sequence, commitId, storedAt, events: parseBatch(raw) };
}

function parseBatch(raw: RawCommit): CloudEvent<unknown>[] {
  const broken = (reason: string) => new BrokenCommit(raw.stream, raw.subject, raw.sequence, reason);
  let batch: unknown;
  try {
    const { buffer, byteOffset, byteLength } = raw.body;
    batch = JSON.parse(Buffer.from(buffer, byteOffset, byteLength).toString('utf8'));
  } catch {
    throw broken('its body is not JSON');
  }
  if (!Array.isArray(batch) || batch.length === 0) throw broken('its body is not a batch of events');
  if (!batch.every(isEvent)) throw broken('an event lacks its type or time');
  return batch;
}

function isEvent(value: unknown): value is CloudEvent<unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const { type, time } = value as Partial<CloudEvent>;
  return typeof type === 'string' && typeof time === 'string';
}

const asPredicate = (known: KnownEvents) =>
  typeof known === 'function' ? known : (name: string) => Object.hasOwn(known, name);

export interface DecodedEvents {
  /** The known ones, upcast to the newest shape. */
  events: DomainEvent[];
  unknown: boolean;
  /** Type of the first unknown one. */
  unknownType?: string;
}

/**
 * Events of a commit as deciders and projections see them. Unknown ones are left out and reported: projections go on,
 * deciders refuse the aggregate (P8.9).
 */
export function decodeEvents(commit: Commit, known: KnownEvents): DecodedEvents {
  const isKnown = asPredicate(known);
  const decoded: DecodedEvents = { events: [], unknown: false };
  for (const event of commit.events) {
    const { name, data, known: readable } = upcast(event, isKnown);
    if (readable) decoded.events.push({ type: name, data, time: Date.parse(event.time), actor: event.actor });
    else {
      decoded.unknown = true;
      decoded.unknownType ??= event.type;
    }
  }
  return decoded;
}

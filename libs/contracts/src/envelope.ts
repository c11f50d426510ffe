import type { Json } from './json';

/** Who caused an event or asked for something: `user:<uuid>`, `service:<key id>` or `system:<part>`. */
export type Actor = `user:${string}` | `service:${string}` | `system:${string}`;

/**
 * One event as it lies on disk: a CloudEvents 1.0 event in JSON. Extension attributes are lower case (the
 * specification allows nothing else). `type` is `runyard.<EventName>.v<version>`.
 */
export interface CloudEvent<D = Json> {
  specversion: '1.0';
  /** `<commit id>.<index>`. */
  id: string;
  source: string;
  type: string;
  /** Id of the aggregate. */
  subject: string;
  /** RFC 3339; never earlier than the aggregate's previous event (protocol P1.3). */
  time: string;
  datacontenttype: 'application/json';
  org: string;
  actor: Actor;
  /** What made this happen: a request's or another event's id. */
  causationid?: string;
  correlationid?: string;
  traceparent?: string;
  data: D;
}

/** An event before it is appended: its name, its shape's version and its data. */
export interface NewEvent<T extends string = string, D = unknown> {
  type: T;
  data: D;
}

/** A typed event as deciders and projections see it, upcast to the newest version. */
export interface DomainEvent<T extends string = string, D = unknown> extends NewEvent<T, D> {
  /** Epoch milliseconds. */
  time: number;
  actor: Actor;
}

/** Content type of a commit: a CloudEvents JSON batch. */
export const COMMIT_CONTENT_TYPE = 'application/cloudevents-batch+json';

/** Largest commit; more must be stored as a blob first (architecture, section 2). */
export const MAX_COMMIT_BYTES = 256 * 1024;

const TYPE = /^runyard\.([A-Z][A-Za-z]*)\.v([1-9][0-9]*)$/;

/** `RunQueued`, 1 → `runyard.RunQueued.v1`. */
export function eventType(name: string, version: number): string {
  return `runyard.${name}.v${version}`;
}

/** The inverse of {@link eventType}; undefined for a type that is not ours. */
export function parseEventType(type: string): { name: string; version: number } | undefined {
  const match = TYPE.exec(type);
  return match ? { name: match[1] ?? '', version: Number(match[2]) } : undefined;
}

/**
 * Text that may be large: inline, or stored whole as a blob of the org with a shortened preview.
 * `bytes` is the UTF-8 size of the whole text.
 */
export type StoredText = { text: string } | { preview: string; digest: string; bytes: number };

import type { CloudEvent } from './envelope';
import { eventType, parseEventType } from './envelope';

/** Lifts the data of one event version to the next one. Pure; each has a test with a stored sample. */
export type Upcaster = (data: unknown) => unknown;

/** Current shape version per event name; an event that is missing here is at version 1. */
export const CURRENT_VERSIONS: Readonly<Record<string, number>> = {};

/** Upcasters by the type they read, e.g. `runyard.RunQueued.v1` lifts to version 2. */
export const UPCASTERS: Readonly<Record<string, Upcaster>> = {};

export const currentVersion = (name: string): number => CURRENT_VERSIONS[name] ?? 1;

export interface Upcast {
  name: string;
  data: unknown;
  /** False for a foreign type or a version newer than this code: projections skip it, deciders refuse the aggregate (P8.9). */
  known: boolean;
}

/** The tables that {@link upcast} reads; a test gives its own. */
export interface EventShapes {
  versions: Readonly<Record<string, number>>;
  upcasters: Readonly<Record<string, Upcaster>>;
}
const SHAPES: EventShapes = { versions: CURRENT_VERSIONS, upcasters: UPCASTERS };

/** Reads an event of any past version as the newest one. */
export function upcast(
  event: CloudEvent<unknown>,
  isKnown: (name: string) => boolean,
  shapes = SHAPES,
): Upcast {
  const parsed = parseEventType(event.type);
  if (!parsed || !isKnown(parsed.name))
    return { name: parsed?.name ?? event.type, data: event.data, known: false };
  const newest = shapes.versions[parsed.name] ?? 1;
  let { data } = event;
  for (let version = parsed.version; version < newest; version++) {
    const lift = shapes.upcasters[eventType(parsed.name, version)];
    if (!lift) return { name: parsed.name, data, known: false };
    data = lift(data);
  }
  return { name: parsed.name, data, known: parsed.version <= newest };
}

import type { CatchUp, Schedule } from '@runyard/contracts';
import { nextSlot } from './next-slot';
import type { SlotQuestion } from './next-slot';

const HOUR = 3_600_000;
/** How old a missed slot may be that is made up for (domain, section 3: `latest` within 24 h). */
export const CATCH_UP_MS = 24 * HOUR;
/** A slot that is found within this time is on time: a scan and a restart lie within it. */
export const ON_TIME_MS = 5 * 60_000;

export interface DueSlots {
  /** The newest slot that is due; null: it lies too far back to be looked for. */
  newest: number | null;
  /** Whether a run is requested for `newest`. */
  run: boolean;
  late: boolean;
  /** Older ones, or all where `newest` is null. */
  missed: { from: number; before: number; count: number; atLeast: boolean } | null;
}

/**
 * What is due at `now`, when `first` is the oldest slot that nobody has decided about: at most one run, for the newest
 * one, however many were missed. Policy `latest` makes up for it within a day, `none` not at all. Looks back a day at most.
 */
export function dueSlots(
  schedule: Schedule,
  zones: Omit<SlotQuestion, 'after'>,
  due: { first: number; now: number; catchUp: CatchUp },
): DueSlots {
  const { first, now, catchUp } = due;
  const found =
    schedule.type === 'interval'
      ? beats(first, now, schedule.every_hours * HOUR)
      : walk(schedule, zones, first, now);
  const { newest, count, atLeast } = found;
  const age = newest === null ? Infinity : now - newest;
  const older = count - (newest === null ? 0 : 1);
  return {
    newest,
    run: age <= (catchUp === 'latest' ? CATCH_UP_MS : ON_TIME_MS),
    late: age > ON_TIME_MS,
    missed: older > 0 ? { from: first, before: newest ?? now, count: older, atLeast } : null,
  };
}

interface Found {
  newest: number | null;
  count: number;
  atLeast: boolean;
}

function beats(first: number, now: number, beat: number): Found {
  const passed = Math.floor((now - first) / beat);
  return { newest: first + passed * beat, count: passed + 1, atLeast: false };
}

/** Slots from `first` to `now`, but none that is older than a day: they are never made up for, so nobody need find them. */
function walk(schedule: Schedule, zones: Omit<SlotQuestion, 'after'>, first: number, now: number): Found {
  const far = first < now - CATCH_UP_MS;
  const found: Found = { newest: null, count: far ? 1 : 0, atLeast: far };
  let slot: number | null = far ? nextSlot(schedule, { ...zones, after: now - CATCH_UP_MS - 1 }) : first;
  while (slot !== null && slot <= now) {
    found.newest = slot;
    found.count++;
    slot = nextSlot(schedule, { ...zones, after: slot });
  }
  return found;
}

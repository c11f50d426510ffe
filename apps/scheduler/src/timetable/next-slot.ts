import { Problem } from '@runyard/contracts';
import type { Schedule, SlotRow } from '@runyard/contracts';
import { nextMatch } from './cron-fields';
import { instantOf, localText, markOf, naiveAt } from './local-time';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Local times looked at in one call. A fold repeats at most a few hours of minutes; a day's worth is beyond any zone's rules. */
const MOST_LOOKS = 3_000;

export interface SlotQuestion {
  /** The previous slot, or the instant of saving or opening; epoch ms. */
  after: number;
  /** Null: the organization's. */
  ownerZone: string | null;
  orgZone: string;
}

/** Zone on whose wall clock a schedule is read. */
export function zoneOf(schedule: Schedule, { ownerZone, orgZone }: Omit<SlotQuestion, 'after'>): string {
  return schedule.type === 'cron' ? schedule.time_zone : (ownerZone ?? orgZone);
}

/**
 * The first slot after an instant, computed from the previous slot and never from "now", so that intervals do not drift
 * (domain, section 3). Strictly later than `after`; null: never. Bounded work. Throws Error on a cron expression that
 * makes no sense.
 */
export function nextSlot(schedule: Schedule, question: SlotQuestion): number | null {
  if (schedule.type === 'interval') return question.after + schedule.every_hours * HOUR;
  return nextLocal(schedule, question.after, zoneOf(schedule, question))?.at ?? null;
}

/** As `nextSlot`, but later than `now` too: what was in between is passed over. An interval keeps its beat. */
export function nextSlotBeyond(schedule: Schedule, question: SlotQuestion, now: number): number | null {
  if (schedule.type !== 'interval')
    return nextSlot(schedule, { ...question, after: Math.max(question.after, now) });
  const beat = schedule.every_hours * HOUR;
  const passed = Math.max(0, Math.floor((now - question.after) / beat));
  return question.after + (passed + 1) * beat;
}

interface LocalSlot {
  at: number;
  naive: number;
}

/**
 * Local times that the schedule names, in order, from the wall clock's reading at `after` on. As the mapping to instants
 * never decreases, the first one that lies after `after` is the next slot; those of a gap fall together into one.
 */
function nextLocal(
  schedule: Exclude<Schedule, { type: 'interval' }>,
  after: number,
  zone: string,
): LocalSlot | null {
  let naive: number | null = naiveAt(after, zone);
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    naive =
      schedule.type === 'cron' ? nextMatch(schedule.expression, naive) : nextCalendarTime(schedule, naive);
    if (naive === null) return null;
    const at = instantOf(naive, zone);
    if (at > after) return { at, naive };
  }
  return null;
}

function nextCalendarTime(schedule: Extract<Schedule, { type: 'calendar' }>, naive: number): number {
  const [hours = 0, minutes = 0] = schedule.time.split(':').map(Number);
  const day = Math.floor(naive / DAY);
  const days = schedule.cadence === 'daily' ? 0 : ((schedule.weekday ?? 0) - weekdayOf(day) + 7) % 7;
  const first = (day + days) * DAY + hours * HOUR + minutes * 60_000;
  return first > naive ? first : first + (schedule.cadence === 'daily' ? 1 : 7) * DAY;
}

/** 0 = Monday. Day 0 of the epoch was a Thursday. */
const weekdayOf = (day: number): number => (((day + 3) % 7) + 7) % 7;

/**
 * The next `count` slots after `from`; an interval counts from there. Throws a Problem `invalid_request` that names the
 * expression where a cron makes no sense or never fires.
 */
export function preview(schedule: Schedule, zone: string, from: number, count: number): SlotRow[] {
  const rows: SlotRow[] = [];
  let after = from;
  while (rows.length < count) {
    const slot = step(schedule, zone, after);
    if (slot === null) break;
    const mark = slot.naive === null ? null : markOf(slot.naive, zone);
    rows.push({
      at: new Date(slot.at).toISOString(),
      local: localText(slot.at, zone),
      time_zone: zone,
      mark,
    });
    after = slot.at;
  }
  if (rows.length === 0) throw refusal('never fires: no date matches it');
  return rows;
}

function step(schedule: Schedule, zone: string, after: number): { at: number; naive: number | null } | null {
  if (schedule.type === 'interval') return { at: after + schedule.every_hours * HOUR, naive: null };
  try {
    return nextLocal(schedule, after, zone);
  } catch (error) {
    throw refusal(`is no cron expression: ${(error as Error).message.replace(/^CronPattern: /, '')}`);
  }
}

function refusal(detail: string): Problem {
  const errors = [{ pointer: '/schedule/expression', detail }];
  return new Problem('invalid_request', `The schedule is not valid: /schedule/expression ${detail}`, {
    errors,
  });
}

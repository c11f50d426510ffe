import type { WeekPlace } from '@runyard/contracts';
import { Temporal } from 'temporal-polyfill';

const WEEK = { days: 7 };

/** First instant of a date in a zone: midnight, or the end of the gap where there is none; the first of two midnights. */
const startOf = (date: Temporal.PlainDate, timeZone: string): number =>
  date.toZonedDateTime({ timeZone }).epochMilliseconds;

const dateAt = (at: number, timeZone: string): Temporal.PlainDate =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone).toPlainDate();

/** The date that an instant has in a zone. */
export const dayAt = (at: number, timeZone: string): string => dateAt(at, timeZone).toString();

/** First instant of a date, YYYY-MM-DD. */
export const startOfDay = (day: string, timeZone: string): number =>
  startOf(Temporal.PlainDate.from(day), timeZone);

function bounded(sunday: Temporal.PlainDate, timeZone: string): WeekPlace {
  const start = startOf(sunday, timeZone);
  return { week: sunday.toString(), start, end: startOf(sunday.add(WEEK), timeZone), timeZone };
}

/** The calendar week of an instant: from Sunday 00:00 in the zone to the next one (domain, section 7). */
export function weekAt(at: number, timeZone: string): WeekPlace {
  const date = dateAt(at, timeZone);
  return bounded(date.subtract({ days: date.dayOfWeek % 7 }), timeZone);
}

/**
 * The week that follows an ended one for somebody who comes at `at`. It is the very next one where reservations must be
 * carried (`carries`), since a run may have ended in any week in between; otherwise that of `at`. It begins where the
 * one before ended, whatever has become of the zone: no instant belongs to two weeks or, where they follow each other,
 * to none (P6.3).
 */
export function weekAfter(ended: WeekPlace, at: number, timeZone: string, carries: boolean): WeekPlace {
  const next = bounded(Temporal.PlainDate.from(ended.week).add(WEEK), timeZone);
  const natural = weekAt(at, timeZone);
  return carries || natural.week <= next.week ? { ...next, start: ended.end } : natural;
}

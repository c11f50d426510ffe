import { UserError } from './user.errors';

const DAY_MS = 86_400_000;

/** Now in UTC and in one IANA zone, as JSON text. Throws UserError for a zone that is not known. */
export function currentTime(now: number, timeZone = 'UTC'): string {
  const parts = partsIn(now, timeZone);
  const offset =
    parts['timeZoneName'] === 'GMT' ? '+00:00' : (parts['timeZoneName'] ?? '').replace('GMT', '');
  const local = `${parts['year']}-${parts['month']}-${parts['day']}T${parts['hour']}:${parts['minute']}:${parts['second']}${offset}`;
  const utc = `${new Date(now).toISOString().slice(0, 19)}Z`;
  return JSON.stringify({ utc, local, time_zone: timeZone, weekday: parts['weekday'] });
}

function partsIn(now: number, timeZone: string): Record<string, string> {
  try {
    const format = new Intl.DateTimeFormat('en-GB', {
      timeZone,
      weekday: 'long',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
      timeZoneName: 'longOffset',
    });
    return Object.fromEntries(format.formatToParts(now).map(({ type, value }) => [type, value]));
  } catch {
    throw new UserError(
      `time_zone: "${timeZone.slice(0, 60)}" is not an IANA time zone; use a name such as "Europe/Berlin"`,
    );
  }
}

/** Days, weeks and weekdays between two calendar dates, as JSON text; negative where `to` is earlier. */
export function dateDifference(from: string, to: string): string {
  const [start, end] = [dayNumber('from', from), dayNumber('to', to)];
  const days = end - start;
  const weekdays = weekdaysBefore(end) - weekdaysBefore(start);
  return JSON.stringify({ days, weeks: Math.trunc(days / 7), remaining_days: days % 7, weekdays });
}

/** Days since 1970-01-01 of the proleptic Gregorian calendar. */
function dayNumber(field: string, date: string): number {
  const time = Date.parse(`${date}T00:00:00Z`);
  // Date.parse refuses month 13, but lets 31 April roll over in some forms; the round trip tells.
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== date) {
    throw new UserError(`${field}: "${date.slice(0, 40)}" is not a date of the calendar; write YYYY-MM-DD`);
  }
  return time / DAY_MS;
}

/** Mondays to Fridays before a day, counted from Monday 1969-12-29. */
function weekdaysBefore(day: number): number {
  const sinceMonday = day + 3;
  const week = Math.floor(sinceMonday / 7);
  return week * 5 + Math.min(sinceMonday - week * 7, 5);
}

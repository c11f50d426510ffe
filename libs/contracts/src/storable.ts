import { z } from 'zod';
import { isoTime } from './iso-time';

const [FIRST, LAST] = [Date.parse('0001-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59.999Z')];
/** No place of the world is further away, and the database refuses more than a day's share of it. */
const OFFSET = /([+-](0\d|1[0-4]):[0-5]\d|Z)$/i;

/**
 * A time of RFC 3339 that every part of the platform can hold. Rows have no year before 1 and no instant after the year 9999: an
 * event with one could be appended and never be projected.
 */
export const timeSchema = (error = 'must be an RFC 3339 time') =>
  z.iso.datetime({ offset: true, error }).refine((text) => {
    const at = Date.parse(text);
    return at >= FIRST && at <= LAST && OFFSET.test(text);
  }, 'must lie between the years 1 and 9999, at most 14 hours from UTC');

/** A time that was written before it was checked, moved to the nearest instant that rows can hold. */
export const storableTime = (text: string): string =>
  isoTime(Math.min(Math.max(Date.parse(text), FIRST), LAST));

/** A day of a calendar, for the same reason from the year 1 on. */
export const dateSchema = () =>
  z.iso
    .date('must be a date, YYYY-MM-DD')
    .refine((text) => !text.startsWith('0000'), 'must lie between the years 1 and 9999');

/** The largest whole number that a count or a place in rows can have. */
const MOST_INTEGER = 2_147_483_647;

/** A whole number that rows can hold. A refinement: what was released says a larger maximum, under which no request succeeded. */
export const integerSchema = (min: number) =>
  z
    .int('must be a whole number')
    .min(min, `must be at least ${min}`)
    .refine((value) => value <= MOST_INTEGER, `must be at most ${MOST_INTEGER}`);

import { z } from 'zod';

/** Hours of the longest interval: a year. */
const LONGEST_INTERVAL_HOURS = 8_760;

/** True for a name that the platform's time zone database knows. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return /^[A-Za-z]/.test(name);
  } catch {
    return false;
  }
}

export const timeZoneSchema = z
  .string()
  .refine(isTimeZone, 'must be an IANA time zone name, such as Europe/Berlin');

const time = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a local time HH:MM');
const weekday = z
  .int('must be a weekday from 0 (Monday) to 6 (Sunday)')
  .min(0, 'must be at least 0')
  .max(6, 'must be at most 6');
const CRON_FIELD = /^[0-9A-Za-z*/,#?LW-]+$/;

/** When an agent runs by itself (domain, section 3). Null on an agent means: only by hand. */
export const scheduleSchema = z.discriminatedUnion(
  'type',
  [
    z.strictObject({
      type: z.literal('interval'),
      every_hours: z
        .int('must be a whole number of hours')
        .min(1, 'must be at least 1')
        .max(LONGEST_INTERVAL_HOURS, `must be at most ${LONGEST_INTERVAL_HOURS}`),
    }),
    z
      .strictObject({
        type: z.literal('calendar'),
        cadence: z.enum(['daily', 'weekly'], 'must be daily or weekly'),
        weekday: weekday.optional(),
        time,
      })
      .refine((s) => s.cadence === 'daily' || s.weekday !== undefined, {
        path: ['weekday'],
        message: 'is required for a weekly schedule',
      }),
    z.strictObject({
      type: z.literal('cron'),
      expression: z
        .string()
        .max(200, 'must be at most 200 characters')
        .refine((text) => isCron(text), 'must be a cron expression of five fields'),
      time_zone: timeZoneSchema,
    }),
  ],
  'must be of type interval, calendar or cron',
);
export type Schedule = z.infer<typeof scheduleSchema>;

function isCron(text: string): boolean {
  const fields = text.trim().split(/\s+/);
  return fields.length === 5 && fields.every((field) => CRON_FIELD.test(field));
}

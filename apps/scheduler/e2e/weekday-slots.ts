import type { Schedule } from '@runyard/contracts';
import { nextSlot, preview } from '../src/timetable/next-slot';

// Run by zones.spec.ts in processes of several time zones: what it prints must not depend on them.
const evenings: Schedule = { type: 'cron', expression: '0 23 * * THU,FRI', time_zone: 'America/Los_Angeles' };
const monday: Schedule = { type: 'calendar', cadence: 'weekly', weekday: 0, time: '00:30' };
const after = Date.parse('2026-07-01T00:00:00Z');
console.log(
  JSON.stringify([
    preview(evenings, 'America/Los_Angeles', Date.parse('2019-08-15T07:00:00Z'), 2),
    nextSlot(monday, { after, ownerZone: 'Pacific/Auckland', orgZone: 'UTC' }),
    preview(
      { type: 'calendar', cadence: 'daily', time: '02:30' },
      'Europe/Berlin',
      Date.parse('2026-03-27T00:00:00Z'),
      4,
    ),
  ]),
);

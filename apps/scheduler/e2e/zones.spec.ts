import { execFileSync } from 'node:child_process';
import path from 'node:path';
import type { Schedule } from '@runyard/contracts';
import { Temporal } from 'temporal-polyfill';
import { nextSlot } from '../src/timetable/next-slot';
import { ALL_CHANGES } from './zones.config';

// Every zone of the platform, around changes of its offset between 2000 and 2040: all of them with
// RUNYARD_ALL_ZONE_CHANGES=on, some of each zone otherwise. What is right is read from Intl, not from the code under test.
jest.setTimeout(ALL_CHANGES ? 3_600_000 : 120_000);

const DAY = 86_400_000;
const FROM = Date.parse('2000-01-01T00:00:00Z');
const UNTIL = Date.parse('2040-12-31T00:00:00Z');
const LIMIT_MS = 250;
const FIRST_ORDINARY_STEPS = [15, 30, 45, 60, 90, 120, 180, 1_440].map((minutes) => minutes * 60_000);

type Wall = (at: number) => number;

/** What Intl says the wall clock reads, as if in UTC. */
function wallOf(zone: string): Wall {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (at) => {
    const parts = Object.fromEntries(
      format.formatToParts(at).map(({ type, value }) => [type, Number(value)]),
    );
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second);
  };
}

function changesOf(zone: string, seed: number): number[] {
  const changes: number[] = [];
  let at = Temporal.Instant.fromEpochMilliseconds(
    ALL_CHANGES ? FROM : FROM + ((seed * 7_919) % 36) * 365 * DAY,
  ).toZonedDateTimeISO(zone);
  while (ALL_CHANGES || changes.length < 2) {
    const change = at.getTimeZoneTransition('next');
    if (!change || change.epochMilliseconds > UNTIL) break;
    changes.push(change.epochMilliseconds);
    at = change;
  }
  return changes;
}

const clockText = (naive: number): string => new Date(naive).toISOString().slice(11, 16);

/** Times of day that the change makes interesting: in the gap or fold, at its edges, and one that it does not touch. */
function timesAround(change: number, wall: Wall): string[] {
  const [before, after] = [wall(change - 1_000) + 1_000, wall(change)];
  return [
    ...new Set([before, after, (before + after) / 2, before - 60_000, after + 3 * 3_600_000].map(clockText)),
  ];
}

function slotsOf(schedule: Schedule, zone: string, from: number, until: number): number[] {
  const slots: number[] = [];
  let after = from;
  while (after < until) {
    // Its own processor time: on a busy machine the clock on the wall says nothing about the call.
    const started = process.cpuUsage();
    const slot = nextSlot(schedule, { after, ownerZone: zone, orgZone: 'UTC' });
    const { user, system } = process.cpuUsage(started);
    if (user + system > LIMIT_MS * 1_000) slow++;
    if (slot === null || slot <= after)
      throw new Error(`${zone} ${JSON.stringify(schedule)}: ${slot} after ${after}`);
    slots.push(slot);
    after = slot;
  }
  return slots;
}
let slow = 0;

/** The slot reads the wanted minute and is the first to do so; or the wanted time lies in the gap that ends at the slot. */
function fault(slot: number, wanted: number, wall: Wall): string | undefined {
  if (wall(slot) !== wanted)
    return wall(slot - 1_000) < wanted && wanted < wall(slot)
      ? undefined
      : 'is at another time than asked for';
  return FIRST_ORDINARY_STEPS.some((step) => wall(slot - step) === wanted)
    ? 'is the second of two'
    : undefined;
}

function checkCalendar(zone: string, change: number, wall: Wall): string[] {
  const faults: string[] = [];
  for (const time of timesAround(change, wall)) {
    const [hours = 0, minutes = 0] = time.split(':').map(Number);
    const offset = (hours * 60 + minutes) * 60_000;
    const from = change - 3 * DAY;
    const until = change + 3 * DAY;
    const days: number[] = [];
    for (let day = Math.floor(wall(from) / DAY); day * DAY + offset <= wall(until) + 2 * DAY; day++)
      days.push(day);
    const wanted = days.map((day) => day * DAY + offset).filter((naive) => naive > wall(from));
    const slots = slotsOf({ type: 'calendar', cadence: 'daily', time }, zone, from, until);
    for (const slot of slots) {
      // A skipped day's time may fall together with the next day's.
      const meant = wanted.splice(0, wanted.filter((naive) => naive <= wall(slot)).length);
      const why =
        meant.length === 0
          ? 'is not asked for'
          : meant.map((naive) => fault(slot, naive, wall)).find((one) => one);
      if (why) faults.push(`${zone} daily ${time} ${new Date(slot).toISOString()} ${why}`);
    }
    const weekday = (Math.floor(wall(change) / DAY) + 3) % 7;
    for (const slot of slotsOf(
      { type: 'calendar', cadence: 'weekly', weekday, time },
      zone,
      change - 8 * DAY,
      change + 8 * DAY,
    )) {
      const day = [0, -1]
        .map((back) => Math.floor(wall(slot) / DAY) + back)
        .find((one) => (((one + 3) % 7) + 7) % 7 === weekday);
      const why = day === undefined ? 'is on another weekday' : fault(slot, day * DAY + offset, wall);
      if (why) faults.push(`${zone} weekly ${weekday} ${time} ${new Date(slot).toISOString()} ${why}`);
    }
  }
  return faults;
}

function checkCron(zone: string, change: number, wall: Wall): string[] {
  const hours = Math.floor((wall(change) % DAY) / 3_600_000);
  const near = [...new Set([(hours + 23) % 24, hours, (hours + 1) % 24])];
  const slots = slotsOf(
    { type: 'cron', expression: `*/20 ${near.join(',')} * * *`, time_zone: zone },
    zone,
    change - DAY,
    change + DAY,
  );
  const seen = new Set<number>();
  return slots.flatMap((slot) => {
    const naive = wall(slot);
    const repeated = seen.has(naive);
    seen.add(naive);
    const named = new Date(naive).getUTCMinutes() % 20 === 0 && near.includes(new Date(naive).getUTCHours());
    const afterGap = naive - wall(slot - 1_000) > 1_000;
    return repeated || !(named || afterGap)
      ? [`${zone} cron ${new Date(slot).toISOString()} ${repeated ? 'repeats' : 'is not named'}`]
      : [];
  });
}

describe('slots of all zones around changes of their offset', () => {
  const zones = Intl.supportedValuesOf('timeZone');

  test('grow strictly, never repeat, and have the asked-for hour and weekday unless the hour does not exist', () => {
    const faults: string[] = [];
    let checked = 0;
    for (const [index, zone] of zones.entries()) {
      const wall = wallOf(zone);
      for (const change of changesOf(zone, index)) {
        faults.push(...checkCalendar(zone, change, wall), ...checkCron(zone, change, wall));
        const beat = slotsOf({ type: 'interval', every_hours: 5 }, zone, change - DAY, change + DAY);
        if (beat.some((slot, i) => i > 0 && slot - (beat[i - 1] ?? 0) !== 5 * 3_600_000))
          faults.push(`${zone} interval drifts`);
        checked++;
      }
    }
    expect(faults.slice(0, 20)).toEqual([]);
    expect(checked).toBeGreaterThan(300);
    expect(slow).toBeLessThan(5);
  });
});

test('C05 answers are the same whatever the zone of the process (jkbrzt/rrule#362)', () => {
  const preload = path.join(__dirname, '../../../libs/testing/src/database-child.cjs');
  const under = (TZ: string) =>
    execFileSync(process.execPath, ['-r', preload, path.join(__dirname, 'weekday-slots.ts')], {
      env: { TZ },
      encoding: 'utf8',
    });
  const answers = ['UTC', 'Asia/Tokyo', 'America/Los_Angeles'].map(under);
  expect(new Set(answers).size).toBe(1);
  expect(answers[0]).toContain('2019-08-16T06:00:00.000Z');
  expect(answers[0]).toContain('2019-08-17T06:00:00.000Z');
  expect(answers[0]).toContain(String(Date.parse('2026-07-05T12:30:00Z')));
});

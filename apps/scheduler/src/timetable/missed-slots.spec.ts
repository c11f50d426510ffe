import type { Schedule } from '@runyard/contracts';
import { processorMs } from '@runyard/testing';
import { dueSlots } from './missed-slots';
import { planAnew } from './plan';
import type { AgentFacts } from './plan';

const at = (text: string): number => Date.parse(text);
const zones = { ownerZone: null, orgZone: 'Europe/Berlin' };
const daily: Schedule = { type: 'calendar', cadence: 'daily', time: '06:00' };
const minutes: Schedule = { type: 'cron', expression: '* * * * *', time_zone: 'UTC' };

describe('missed slots', () => {
  test('one that is found in time is on time', () => {
    const first = at('2026-11-30T05:00:00Z');
    expect(dueSlots(daily, zones, { first, now: first + 400, catchUp: 'none' })).toEqual({
      newest: first,
      run: true,
      late: false,
      missed: null,
    });
  });

  test('latest: one run for the newest within a day, the others are noted', () => {
    const found = dueSlots(daily, zones, {
      first: at('2026-11-25T05:00:00Z'),
      now: at('2026-11-30T10:00:00Z'),
      catchUp: 'latest',
    });
    expect(found).toMatchObject({
      newest: at('2026-11-30T05:00:00Z'),
      run: true,
      late: true,
      missed: { count: 1, atLeast: true },
    });
  });

  test('latest: none where the newest is older than a day', () => {
    const weekly: Schedule = { type: 'calendar', cadence: 'weekly', weekday: 0, time: '06:00' };
    const first = at('2026-11-30T05:00:00Z');
    expect(dueSlots(weekly, zones, { first, now: first + 28 * 3_600_000, catchUp: 'latest' })).toMatchObject({
      newest: null,
      run: false,
      missed: { count: 1 },
    });
  });

  test('none: nothing is made up for', () => {
    const first = at('2026-11-30T05:00:00Z');
    expect(dueSlots(daily, zones, { first, now: first + 3_600_000, catchUp: 'none' })).toMatchObject({
      newest: first,
      run: false,
    });
  });

  test('an interval counts exactly, whatever the pause', () => {
    const first = at('2026-01-01T00:20:00Z');
    const found = dueSlots({ type: 'interval', every_hours: 1 }, zones, {
      first,
      now: first + 1000 * 3_600_000 + 5,
      catchUp: 'latest',
    });
    expect(found).toMatchObject({
      newest: first + 1000 * 3_600_000,
      run: true,
      missed: { count: 1000, atLeast: false },
    });
  });

  test('every minute for a year of silence is bounded work', () => {
    const started = processorMs();
    const found = dueSlots(minutes, zones, {
      first: at('2025-01-01T00:00:00Z'),
      now: at('2026-01-01T00:00:30Z'),
      catchUp: 'latest',
    });
    expect(found).toMatchObject({
      newest: at('2026-01-01T00:00:00Z'),
      run: true,
      missed: { count: 1440, atLeast: true },
    });
    expect(processorMs() - started).toBeLessThan(3_000);
  });
});

describe('a changed plan', () => {
  const facts = (more: Partial<AgentFacts> = {}): AgentFacts => ({
    schedule: daily,
    scheduledAt: at('2026-11-01T00:00:00Z'),
    open: true,
    openedAt: at('2026-11-01T00:00:00Z'),
    ...zones,
    zoneSince: at('2026-11-01T00:00:00Z'),
    ...more,
  });
  const now = at('2026-11-30T10:00:00Z');

  test('a closed agent has no next slot', () => {
    expect(planAnew(facts({ open: false }), { next: 5, decided: 4 }, now)).toEqual({
      next: null,
      leftOver: null,
    });
  });

  test('opening counts from the opening, slots of the closed period are not missed', () => {
    const opened = facts({ openedAt: at('2026-11-30T09:00:00Z') });
    expect(planAnew(opened, { next: at('2026-11-30T05:00:00Z'), decided: null }, now)).toEqual({
      next: at('2026-12-01T05:00:00Z'),
      leftOver: null,
    });
  });

  test('the first interval slot is one interval after saving, later ones follow the slot before', () => {
    const saved = facts({
      schedule: { type: 'interval', every_hours: 5 },
      scheduledAt: at('2026-11-30T08:07:00Z'),
    });
    expect(planAnew(saved, { next: null, decided: null }, now).next).toBe(at('2026-11-30T13:07:00Z'));
    expect(planAnew(saved, { next: null, decided: at('2026-11-30T13:07:00Z') }, now).next).toBe(
      at('2026-11-30T18:07:00Z'),
    );
  });

  test('a change of the zone moves a calendar and leaves an interval', () => {
    const moved = { zoneSince: at('2026-11-30T09:30:00Z'), ownerZone: 'America/New_York' };
    const decided = at('2026-11-30T05:00:00Z');
    expect(planAnew(facts(moved), { next: null, decided }, now).next).toBe(at('2026-11-30T11:00:00Z'));
    expect(
      planAnew(
        facts({ ...moved, schedule: { type: 'interval', every_hours: 5 } }),
        { next: null, decided },
        now,
      ).next,
    ).toBe(at('2026-11-30T10:00:00Z'));
  });

  test('what was due before the schedule changed is not lost by it', () => {
    const changed = facts({ scheduledAt: at('2026-11-30T09:00:00Z') });
    const before = { next: at('2026-11-30T05:00:00Z'), decided: at('2026-11-29T05:00:00Z') };
    expect(planAnew(changed, before, now)).toEqual({
      next: at('2026-12-01T05:00:00Z'),
      leftOver: before.next,
    });
  });
});

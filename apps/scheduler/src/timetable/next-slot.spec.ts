import type { Schedule } from '@runyard/contracts';
import { processorMs } from '@runyard/testing';
import { nextSlot, nextSlotBeyond, preview } from './next-slot';

const at = (text: string): number => Date.parse(text);
const iso = (time: number | null): string | null =>
  time === null ? null : new Date(time).toISOString().replace('.000Z', 'Z');
const daily = (time: string): Schedule => ({ type: 'calendar', cadence: 'daily', time });
const weekly = (weekday: number, time: string): Schedule => ({
  type: 'calendar',
  cadence: 'weekly',
  weekday,
  time,
});
const cron = (expression: string, time_zone: string): Schedule => ({ type: 'cron', expression, time_zone });
const next = (schedule: Schedule, zone: string, after: string) =>
  iso(nextSlot(schedule, { after: at(after), ownerZone: zone, orgZone: 'UTC' }));

function series(schedule: Schedule, zone: string, from: string, count: number): (string | null)[] {
  const found: (string | null)[] = [];
  let after = at(from);
  for (let i = 0; i < count; i++) {
    const slot = nextSlot(schedule, { after, ownerZone: zone, orgZone: 'UTC' });
    found.push(iso(slot));
    after = slot ?? after;
  }
  return found;
}

describe('C01 a midnight that does not exist (harrisiirak/cron-parser#25)', () => {
  test('C01 daily 00:00 in São Paulo runs at the first instant after the gap, within 100 ms (harrisiirak/cron-parser#25)', () => {
    const started = processorMs();
    expect(next(daily('00:00'), 'America/Sao_Paulo', '2014-10-18T12:00:00-03:00')).toBe(
      '2014-10-19T03:00:00Z',
    );
    expect(processorMs() - started).toBeLessThan(100);
  });

  test('C01 weekly Sunday 00:00 in Santiago grows strictly and stays on Sundays (harrisiirak/cron-parser#25)', () => {
    const found = series(weekly(6, '00:00'), 'America/Santiago', '2023-08-20T12:00:00Z', 10);
    expect(found.slice(0, 3)).toEqual([
      '2023-08-27T04:00:00Z',
      '2023-09-03T04:00:00Z',
      '2023-09-10T03:00:00Z',
    ]);
    expect(found).toEqual([...new Set(found)].sort());
    for (const slot of found)
      expect(
        new Intl.DateTimeFormat('en', { weekday: 'short', timeZone: 'America/Santiago' }).format(
          at(slot ?? ''),
        ),
      ).toBe('Sun');
  });
});

describe('C03 the repeated hour of autumn (QwenLM/qwen-code#11720)', () => {
  const zone = 'America/New_York';

  test('C03 daily 01:45 runs once that night, and the next one is the next day (QwenLM/qwen-code#11720)', () => {
    expect(next(daily('01:45'), zone, '2026-11-01T05:45:00Z')).toBe('2026-11-02T06:45:00Z');
    expect(next(daily('01:45'), zone, '2026-11-01T06:30:15Z')).toBe('2026-11-02T06:45:00Z');
  });

  test('C03 stepped through the night in 15 s, the next slot is never in the past (QwenLM/qwen-code#11720)', () => {
    const fires = { minutes: new Set<string | null>(), daily: new Set<string | null>() };
    for (let now = at('2026-11-01T04:00:00Z'); now < at('2026-11-01T08:00:00Z'); now += 15_000) {
      for (const [name, schedule] of [
        ['minutes', cron('* * * * *', zone)],
        ['daily', daily('01:45')],
      ] as const) {
        const slot = nextSlot(schedule, { after: now, ownerZone: zone, orgZone: 'UTC' }) ?? 0;
        expect(slot).toBeGreaterThan(now);
        if (slot <= at('2026-11-01T08:00:00Z')) fires[name].add(iso(slot));
      }
    }
    expect(fires.daily.size).toBe(1);
    // A cron's local minutes run once each: the second 01:xx is the same local time again.
    expect(fires.minutes.size).toBe(180);
  });

  test('C03 an interval does not know of clocks (QwenLM/qwen-code#11720)', () => {
    expect(series({ type: 'interval', every_hours: 1 }, zone, '2026-11-01T04:00:00Z', 4)).toEqual([
      '2026-11-01T05:00:00Z',
      '2026-11-01T06:00:00Z',
      '2026-11-01T07:00:00Z',
      '2026-11-01T08:00:00Z',
    ]);
  });
});

test('C04 weekly Monday 12:00 keeps its local hour over both changes (celery/celery#1604)', () => {
  const monday = weekly(0, '12:00');
  expect(series(monday, 'Europe/Amsterdam', '2013-10-21T10:00:00Z', 2)).toEqual([
    '2013-10-28T11:00:00Z',
    '2013-11-04T11:00:00Z',
  ]);
  expect(series(monday, 'Europe/Amsterdam', '2013-03-25T11:00:00Z', 2)).toEqual([
    '2013-04-01T10:00:00Z',
    '2013-04-08T10:00:00Z',
  ]);
});

test('C05 weekdays are those of the schedule’s zone (jkbrzt/rrule#362)', () => {
  const zone = 'America/Los_Angeles';
  expect(next(weekly(3, '23:00'), zone, '2019-08-15T00:00:00-07:00')).toBe('2019-08-16T06:00:00Z');
  expect(next(weekly(4, '23:00'), zone, '2019-08-15T00:00:00-07:00')).toBe('2019-08-17T06:00:00Z');
  expect(series(cron('0 23 * * THU,FRI', zone), 'UTC', '2019-08-15T00:00:00-07:00', 2)).toEqual([
    '2019-08-16T06:00:00Z',
    '2019-08-17T06:00:00Z',
  ]);
  expect(next(weekly(0, '00:30'), 'Pacific/Auckland', '2026-07-01T00:00:00Z')).toBe('2026-07-05T12:30:00Z');
});

describe('slots', () => {
  test('a day that a zone skipped runs at the first instant after it', () => {
    // Samoa had no 30 December 2011.
    expect(series(daily('09:00'), 'Pacific/Apia', '2011-12-29T19:00:00Z', 2)).toEqual([
      '2011-12-30T10:00:00Z',
      '2011-12-30T19:00:00Z',
    ]);
  });

  test('several local times of a gap fall together into one slot', () => {
    expect(series(cron('*/15 2 * * *', 'Europe/Berlin'), 'UTC', '2026-03-28T23:00:00Z', 2)).toEqual([
      '2026-03-29T01:00:00Z',
      '2026-03-30T00:00:00Z',
    ]);
  });

  test('a calendar without the owner’s zone reads the organization’s', () => {
    const question = { after: at('2026-07-01T00:00:00Z'), ownerZone: null, orgZone: 'Asia/Tokyo' };
    expect(iso(nextSlot(daily('09:00'), question))).toBe('2026-07-02T00:00:00Z');
  });

  test('a date that never comes is null, and soon', () => {
    const started = processorMs();
    expect(next(cron('0 0 30 2 *', 'UTC'), 'UTC', '2026-01-01T00:00:00Z')).toBeNull();
    expect(processorMs() - started).toBeLessThan(1_000);
  });

  test('an interval keeps its beat over a pause', () => {
    const question = { after: at('2026-01-01T00:20:00Z'), ownerZone: null, orgZone: 'UTC' };
    expect(
      iso(nextSlotBeyond({ type: 'interval', every_hours: 3 }, question, at('2026-01-02T00:00:00Z'))),
    ).toBe('2026-01-02T00:20:00Z');
  });
});

describe('preview', () => {
  test('marks what the clocks changed', () => {
    expect(
      preview(daily('02:30'), 'Europe/Berlin', at('2026-03-28T00:00:00Z'), 3).map(
        ({ at: slot, local, mark }) => [slot, local, mark],
      ),
    ).toEqual([
      ['2026-03-28T01:30:00.000Z', '2026-03-28T02:30:00+01:00', null],
      ['2026-03-29T01:00:00.000Z', '2026-03-29T03:00:00+02:00', 'gap'],
      ['2026-03-30T00:30:00.000Z', '2026-03-30T02:30:00+02:00', null],
    ]);
    expect(preview(daily('02:30'), 'Europe/Berlin', at('2026-10-24T12:00:00Z'), 1)).toEqual([
      {
        at: '2026-10-25T00:30:00.000Z',
        local: '2026-10-25T02:30:00+02:00',
        time_zone: 'Europe/Berlin',
        mark: 'fold',
      },
    ]);
  });

  test.each([
    ['0 0 30 2 *', 'never fires'],
    ['99 * * * *', 'is no cron expression'],
  ])('refuses %s and names the field', (expression, why) => {
    try {
      preview(cron(expression, 'UTC'), 'UTC', 0, 1);
      throw new Error('was not refused');
    } catch (error) {
      const { facts } = error as { facts: { errors: { pointer: string; detail: string }[] } };
      expect(facts.errors[0]?.pointer).toBe('/schedule/expression');
      expect(facts.errors[0]?.detail).toContain(why);
    }
  });
});

import { dayAt, weekAfter, weekAt } from './weeks';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const at = (text: string): number => Date.parse(text);
const iso = (time: number): string => new Date(time).toISOString();

const formats = new Map<string, Intl.DateTimeFormat>();

/** What Intl says: the oracle is not the code under test. */
function wall(time: number, timeZone: string): { weekday: string; clock: string; date: string } {
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat('en-CA', {
      timeZone,
      hourCycle: 'h23',
      weekday: 'short',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
    });
  formats.set(timeZone, format);
  const parts = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, value]));
  const { weekday = '', year, month, day, hour, minute } = parts;
  return { weekday, clock: `${hour}:${minute}`, date: `${year}-${month}-${day}` };
}

/** Both ends of the day line, changes at and around midnight, half and quarter hours, a zone that moved over the line. */
const ZONES = [
  'UTC',
  'Pacific/Kiritimati',
  'Etc/GMT+12',
  'Pacific/Pago_Pago',
  'Pacific/Apia',
  'Pacific/Chatham',
  'Europe/Berlin',
  'America/New_York',
  'America/St_Johns',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'America/Havana',
  'Africa/Cairo',
  'America/Asuncion',
  'Asia/Beirut',
];

describe('calendar weeks from Sunday 00:00 in the org’s zone', () => {
  it.each(ZONES)('are whole, follow each other and begin on a Sunday in %s', (zone) => {
    for (
      let time = at('2024-01-01T00:00:00Z');
      time < at('2028-01-01T00:00:00Z');
      time += 11 * DAY + 5 * HOUR
    ) {
      const week = weekAt(time, zone);
      expect(time >= week.start && time < week.end).toBe(true);
      const first = wall(week.start, zone);
      expect({ weekday: first.weekday, date: first.date }).toEqual({ weekday: 'Sun', date: week.week });
      // Midnight, but where the clock jumps over it.
      expect(['00:00', '01:00']).toContain(first.clock);
      expect(wall(week.start - 1, zone).weekday).toBe('Sat');
      expect(weekAt(week.end, zone).start).toBe(week.end);
      expect(weekAt(week.end - 1, zone)).toEqual(week);
      expect(Math.abs(week.end - week.start - 7 * DAY)).toBeLessThanOrEqual(HOUR);
    }
  });

  it.each([
    ['Europe/Berlin', '2026-03-29T12:00:00Z', 167],
    ['Europe/Berlin', '2026-10-25T12:00:00Z', 169],
    ['America/New_York', '2026-03-08T12:00:00Z', 167],
    ['America/New_York', '2026-11-01T12:00:00Z', 169],
    ['Australia/Lord_Howe', '2026-04-05T12:00:00Z', 168.5],
  ])('in %s the week of %s has %d hours', (zone, time, hours) => {
    const { start, end } = weekAt(at(time), zone);
    expect((end - start) / HOUR).toBe(hours);
  });

  it('begin first in Kiritimati and last on the other side of the day line', () => {
    const sunday = at('2026-11-29T12:00:00Z');
    expect(iso(weekAt(sunday, 'Pacific/Kiritimati').start)).toBe('2026-11-28T10:00:00.000Z');
    expect(iso(weekAt(sunday, 'Etc/GMT+12').start)).toBe('2026-11-29T12:00:00.000Z');
    expect(weekAt(sunday - 1, 'Etc/GMT+12').week).toBe('2026-11-22');
    expect(dayAt(at('2026-11-29T11:00:00Z'), 'Pacific/Kiritimati')).toBe('2026-11-30');
    expect(dayAt(at('2026-11-29T11:00:00Z'), 'Pacific/Pago_Pago')).toBe('2026-11-29');
  });

  it('a week in which Samoa skipped a day is six days long', () => {
    const { week, start, end } = weekAt(at('2011-12-29T00:00:00Z'), 'Pacific/Apia');
    expect({ week, hours: (end - start) / HOUR }).toEqual({ week: '2011-12-25', hours: 6 * 24 });
  });
});

describe('the next week', () => {
  const zones = ['Pacific/Kiritimati', 'Etc/GMT+12', 'UTC', 'America/Havana'];

  it.each(zones.flatMap((from) => zones.map((to) => [from, to] as const)))(
    'follows without gap or double when the org moves from %s to %s (P6.3)',
    (from, to) => {
      const week = weekAt(at('2026-11-25T12:00:00Z'), from);
      for (const carries of [true, false]) {
        const next = weekAfter(week, week.end, to, carries);
        expect(next.start).toBe(week.end);
        expect(next.week).toBe('2026-11-29');
        expect(wall(next.end, to)).toMatchObject({ weekday: 'Sun', clock: '00:00', date: '2026-12-06' });
        expect(Math.abs(next.end - next.start - 7 * DAY)).toBeLessThanOrEqual(26 * HOUR);
      }
    },
  );

  it('is that of the day for an owner who was away, but the very next one where runs must be carried', () => {
    const week = weekAt(at('2026-01-07T00:00:00Z'), 'UTC');
    const now = at('2026-03-04T00:00:00Z');
    expect(weekAfter(week, now, 'UTC', false)).toEqual(weekAt(now, 'UTC'));
    expect(weekAfter(week, now, 'UTC', true)).toEqual(weekAt(week.end, 'UTC'));
  });
});

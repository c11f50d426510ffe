import type { WeekPlace } from '@runyard/contracts';
import { decideTogether, foldDecided } from './together';
import { NO_WEEK } from './week';
import type { Week, WeekState } from './week';
import { CARRIED_AT_ONCE, decideWeek } from './week-decisions';
import type { WeekCommand } from './week-decisions';

const DAY = 86_400_000;
const PLACE: WeekPlace = { week: '2026-11-29', start: 0, end: 7 * DAY, timeZone: 'UTC' };
const NEXT: WeekPlace = { week: '2026-12-06', start: 7 * DAY, end: 14 * DAY, timeZone: 'UTC' };

const OPEN: WeekCommand = { type: 'OpenWeek', place: PLACE, previous: null };
const reserve = (runId: string, tokens: number, cap: number | null, smallest = 1) => ({
  type: 'Reserve' as const,
  runId,
  tokens,
  smallest,
  cap,
});
const settle = (runId: string, tokens: number, cap: number | null = null): WeekCommand => ({
  type: 'Settle',
  spent: {
    runId,
    agentId: 'a',
    tokens,
    own: tokens,
    children: 0,
    endedAt: 1,
    day: '2026-11-30',
    lines: [],
  },
  cap,
});

function after(...commands: WeekCommand[]): Week {
  const week = decideTogether(NO_WEEK, commands).at(-1)?.after ?? NO_WEEK;
  if (week.situation === 'absent') throw new Error('nothing was opened');
  return week;
}
const types = (week: WeekState, command: WeekCommand) => decideWeek(week, command).map(({ type }) => type);

describe('reserving', () => {
  it('grants what is asked for, or what the cap leaves, and says that it cut', () => {
    const week = after(OPEN, reserve('a', 600, 1_000));
    expect(decideWeek(week, reserve('b', 600, 1_000, 400))).toEqual([
      { type: 'BudgetReserved', data: { runId: 'b', tokens: 400, cut: true, cap: 1_000 } },
    ]);
  });

  it('refuses what leaves less than the first call may need, without an event (P6.1)', () => {
    const week = after(OPEN, reserve('a', 600, 1_000));
    expect(decideWeek(week, reserve('b', 600, 1_000, 401))).toEqual([]);
    expect(decideWeek(week, reserve('b', 401, 1_000, 401))).toEqual([]);
    expect(decideWeek(week, reserve('b', 400, 1_000, 401))).toHaveLength(1);
    expect(decideWeek(week, reserve('b', 5, 0))).toEqual([]);
  });

  it('is once a run: again it changes nothing, and what was settled or released is never opened again (P2.4)', () => {
    const week = after(OPEN, reserve('a', 10, null), reserve('b', 10, null), reserve('c', 10, null));
    expect(decideWeek(week, reserve('a', 99, null))).toEqual([]);
    const done = after(
      OPEN,
      reserve('a', 10, null),
      reserve('b', 10, null),
      settle('a', 4),
      { type: 'Release', runId: 'b', reason: 'lost' },
      reserve('a', 10, null),
      reserve('b', 10, null),
    );
    expect({ reserved: done.reserved, settled: done.settled }).toEqual({ reserved: 0, settled: 4 });
  });

  it('C31 admits one of eight that would pass the cap together, also as an owner’s first ever (BerriAI/litellm#34732)', () => {
    const eight = Array.from({ length: 8 }, (_, i) => reserve(`r${i}`, 800, 10_000, 800));
    const spent = after(OPEN, settle('before', 9_000));
    const admitted = decideTogether(spent, eight).filter(({ events }) => events.length > 0);
    expect(admitted).toHaveLength(1);
    const first = decideTogether(NO_WEEK, [OPEN, ...eight.map((one) => ({ ...one, cap: 1_000 }))]);
    expect(first.filter(({ events }) => events[0]?.type === 'BudgetReserved')).toHaveLength(1);
    // What it does not use is there for the next one.
    const freed = after(OPEN, settle('before', 9_000), ...eight, settle('r0', 100));
    expect(types(freed, reserve('r8', 800, 10_000, 800))).toEqual(['BudgetReserved']);
  });
});

describe('settling', () => {
  it('counts once, gives the rest back, and reports an overrun, which blocks admission (P6.2)', () => {
    const week = after(OPEN, reserve('a', 500, 1_000), settle('a', 1_200));
    expect(decideWeek(after(OPEN, reserve('a', 500, 1_000)), settle('a', 1_200)).map((e) => e.type)).toEqual([
      'BudgetSettled',
      'GrantOverrun',
    ]);
    expect(week).toMatchObject({ settled: 1_200, reserved: 0 });
    expect(types(week, settle('a', 1_200))).toEqual([]);
    expect(types(week, reserve('b', 1, 1_000))).not.toContain('BudgetReserved');
  });

  it('announces 80 and 100 per cent of a cap once, and again for another cap', () => {
    const week = after(OPEN);
    expect(types(week, settle('a', 799, 1_000))).toEqual(['BudgetSettled']);
    const eighty = after(OPEN, settle('a', 800, 1_000));
    expect(types(week, settle('a', 800, 1_000))).toEqual(['BudgetSettled', 'CapReached']);
    expect(types(eighty, settle('b', 1, 1_000))).toEqual(['BudgetSettled']);
    expect(decideWeek(eighty, settle('b', 200, 1_000))[1]).toEqual({
      type: 'CapReached',
      data: { percent: 100, cap: 1_000, settled: 1_000 },
    });
    expect(types(eighty, settle('b', 1, 900))).toEqual(['BudgetSettled', 'CapReached']);
  });

  it('announces a cap that was changed to what is spent at the next start, which it refuses or not', () => {
    const spent = after(OPEN, settle('a', 800));
    expect(types(spent, reserve('b', 1, 1_000))).toEqual(['BudgetReserved', 'CapReached']);
    expect(types(spent, reserve('b', 1, 1_001))).toEqual(['BudgetReserved']);
    const lowered = decideWeek(spent, reserve('b', 1, 800));
    expect(lowered.map(({ data }) => data)).toEqual([
      { percent: 80, cap: 800, settled: 800 },
      { percent: 100, cap: 800, settled: 800 },
    ]);
    expect(types(foldDecided(spent, lowered) as Week, reserve('c', 1, 800))).toEqual([]);
    expect(types(after(OPEN), reserve('b', 1, 0))).toEqual([]);
  });

  it('counts a run without reservation and one that was released by mistake', () => {
    const week = after(
      OPEN,
      reserve('a', 5, null),
      { type: 'Release', runId: 'a', reason: 'lost' },
      settle('a', 5),
      settle('never', 7),
    );
    expect(week.settled).toBe(12);
  });
});

describe('changing a reservation', () => {
  it('gives more as far as the cap leaves it, and less always', () => {
    const week = after(OPEN, reserve('a', 500, 1_000), reserve('b', 300, 1_000));
    const change = (tokens: number, runId = 'a'): WeekCommand => ({
      type: 'Change',
      runId,
      tokens,
      cap: 1_000,
      reason: 'extended',
    });
    expect(foldDecided(week, decideWeek(week, change(900)))).toMatchObject({ reserved: 1_000 });
    expect(foldDecided(week, decideWeek(week, change(20)))).toMatchObject({ reserved: 320 });
    expect(types(week, change(500))).toEqual([]);
    expect(types(week, change(9, 'nobody'))).toEqual([]);
  });
});

describe('the week’s turn (P6.3)', () => {
  const close: WeekCommand = { type: 'CloseWeek', next: NEXT };

  it('closes once, admits nothing then, and still settles what ended in it', () => {
    const closed = after(OPEN, reserve('a', 10, null), close);
    expect(types(closed, { type: 'CloseWeek', next: { ...NEXT, week: '2027-01-03' } })).toEqual([]);
    expect(types(closed, reserve('b', 10, null))).toEqual([]);
    expect(decideWeek(closed, settle('a', 4))[0]).toMatchObject({ data: { reserved: 10 } });
    expect(after(OPEN, reserve('a', 10, null), close, settle('a', 4))).toMatchObject({
      settled: 4,
      reserved: 0,
    });
  });

  it('begins the next one with what was open, in as many commits as it takes', () => {
    const runs = Array.from({ length: CARRIED_AT_ONCE * 2 + 5 }, (_, i) => reserve(`r${i}`, 3, null));
    const closed = after(OPEN, ...runs, close);
    const previous = { week: PLACE.week, carriedOut: closed.carriedOut };
    let next = foldDecided(NO_WEEK, decideWeek(NO_WEEK, { type: 'OpenWeek', place: NEXT, previous }));
    expect(types(next, reserve('new', 1, null))).toEqual([]);
    for (let turns = 0; turns < 2; turns++) {
      expect(next.situation).toBe('opening');
      next = foldDecided(next, decideWeek(next, { type: 'CarryOn', carriedOut: closed.carriedOut }));
    }
    expect(next).toMatchObject({ situation: 'open', reserved: runs.length * 3, previous: PLACE.week });
    expect(types(next, { type: 'CarryOn', carriedOut: closed.carriedOut })).toEqual([]);
    expect(types(next, { type: 'OpenWeek', place: NEXT, previous })).toEqual([]);
  });
});

describe('a run that waits for people (P5.6)', () => {
  const change = (
    runId: string,
    tokens: number,
    reason: 'parked' | 'woken',
    at: number,
    cap: number | null,
  ) => ({
    type: 'Change' as const,
    runId,
    tokens,
    reason,
    at,
    cap,
  });
  const parked = [OPEN, reserve('a', 600, 1_000), change('a', 50, 'parked', 10, 1_000)];

  it('holds what it has used, and others may have the rest', () => {
    const week = after(...parked);
    expect([week.reserved, week.reservations.get('a')?.tokens]).toEqual([50, 50]);
    expect(decideWeek(week, reserve('b', 950, 1_000))).toMatchObject([{ data: { tokens: 950, cut: false } }]);
  });

  it('gets its grant again, or what is left, and never more than the cap', () => {
    const alone = after(...parked, change('a', 600, 'woken', 11, 1_000));
    expect(alone.reservations.get('a')?.tokens).toBe(600);
    const beside = after(...parked, reserve('b', 700, 1_000), change('a', 600, 'woken', 11, 1_000));
    expect([beside.reservations.get('a')?.tokens, beside.reserved]).toEqual([300, 1_000]);
    const without = after(...parked, reserve('b', 950, 1_000), change('a', 600, 'woken', 11, 1_000));
    expect(without.reservations.get('a')?.tokens).toBe(50);
    const lowered = after(...parked, change('a', 600, 'woken', 11, 10));
    expect(lowered.reservations.get('a')?.tokens).toBe(50);
  });

  it('loses nothing to a word that comes late, also where its waking found everything there', () => {
    const woken = after(OPEN, reserve('a', 600, null), change('a', 600, 'woken', 11, null));
    expect(types(woken, change('a', 50, 'parked', 10, null))).toEqual([]);
    expect(types(woken, change('a', 600, 'woken', 11, null))).toEqual([]);
    expect(types(woken, change('a', 50, 'parked', 12, null))).toEqual(['ReservationChanged']);
  });

  it('takes its place in the log along into the next week', () => {
    const closed = after(...parked, { type: 'CloseWeek', next: NEXT });
    const previous = { week: PLACE.week, carriedOut: closed.carriedOut };
    const week = after({ type: 'OpenWeek', place: NEXT, previous });
    expect(week.reservations.get('a')).toMatchObject({ tokens: 50, at: 10 });
    expect(types(week, change('a', 5, 'parked', 9, null))).toEqual([]);
  });
});

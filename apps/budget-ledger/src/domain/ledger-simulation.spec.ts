import type { WeekPlace } from '@runyard/contracts';
import * as fc from 'fast-check';
import { decideTogether, foldDecided } from './together';
import { NO_WEEK, leftOf } from './week';
import type { Week, WeekState } from './week';
import { decideWeek } from './week-decisions';
import type { WeekCommand } from './week-decisions';

// An owner's weeks under any interleaving of starts, ends, changes of the cap, turns, and everything said twice.
const WEEK = 7 * 86_400_000;
const placeOf = (index: number): WeekPlace => ({
  week: new Date(Date.UTC(2026, 10, 29) + index * WEEK).toISOString().slice(0, 10),
  start: index * WEEK,
  end: (index + 1) * WEEK,
  timeZone: 'UTC',
});

type Move =
  | { kind: 'reserve'; run: number; tokens: number; smallest: number }
  | { kind: 'change'; run: number; tokens: number; reason: 'extended' | 'parked' | 'woken'; late: number }
  | { kind: 'end'; run: number; share: number }
  | { kind: 'release'; run: number }
  | { kind: 'cap'; cap: number | null }
  | { kind: 'turn' };

const run = fc.nat(11);
const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('reserve' as const),
      run,
      tokens: fc.integer({ min: 1, max: 600 }),
      smallest: fc.integer({ min: 1, max: 300 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('end' as const), run, share: fc.nat(100) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('change' as const),
      run,
      tokens: fc.nat(900),
      reason: fc.constantFrom('extended' as const, 'parked' as const, 'woken' as const),
      late: fc.nat(3),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('release' as const), run }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('cap' as const),
      cap: fc.option(fc.integer({ min: 0, max: 2_000 })),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Move>({ kind: 'turn' }) },
);

/** The weeks of one owner; each command is said twice, as after a crash. */
class Simulation {
  readonly weeks: WeekState[] = [foldDecided(NO_WEEK, decideWeek(NO_WEEK, this.opening(0, null)))];
  cap: number | null = 1_000;
  private said = 0;
  /** Tokens of every run that has ended. */
  readonly ended = new Map<string, number>();

  get week(): Week {
    const week = this.weeks.at(-1);
    if (!week || week.situation === 'absent') throw new Error('the week has not begun');
    return week;
  }

  play(one: Move): void {
    if (one.kind === 'cap') this.cap = one.cap;
    else if (one.kind === 'turn') this.turn();
    else {
      const before = this.week;
      const command = this.commandOf(one);
      if (command) this.say(command);
      this.check(before);
    }
  }

  turn(): void {
    const index = this.weeks.length;
    this.say({ type: 'CloseWeek', next: placeOf(index) });
    const { place, carriedOut } = this.week;
    const opening = this.opening(index, { week: place.week, carriedOut });
    this.weeks.push(foldDecided(NO_WEEK, decideWeek(NO_WEEK, opening)));
    expect(decideWeek(this.week, opening)).toEqual([]);
  }

  private opening(index: number, previous: Extract<WeekCommand, { type: 'OpenWeek' }>['previous']) {
    return { type: 'OpenWeek' as const, place: placeOf(index), previous };
  }

  private say(command: WeekCommand): void {
    const [first, again] = decideTogether(this.week, [command, command]);
    expect(again?.events).toEqual([]);
    this.weeks[this.weeks.length - 1] = first?.after ?? this.week;
  }

  private commandOf(one: Exclude<Move, { kind: 'cap' | 'turn' }>): WeekCommand | undefined {
    const { cap } = this;
    const runId = `run_${one.run}`;
    // Intake reads a run's log first: one that has ended asks for nothing.
    if (this.ended.has(runId)) return undefined;
    if (one.kind === 'reserve')
      return { type: 'Reserve', runId, cap, tokens: one.tokens, smallest: one.smallest };
    const held = this.week.reservations.get(runId);
    if (!held) return undefined;
    // Words from a run's log may overtake each other.
    if (one.kind === 'change') {
      const { tokens, reason, late } = one;
      this.said += 1;
      return { type: 'Change', runId, cap, tokens, reason, at: Math.max(0, this.said - late) };
    }
    if (one.kind === 'release') return { type: 'Release', runId, reason: 'lost' };
    const tokens = Math.floor((held.tokens * one.share) / 100);
    this.ended.set(runId, tokens);
    const spent = { agentId: 'a', tokens, own: tokens, children: 0, endedAt: 0, day: '', lines: [] };
    return { type: 'Settle', spent: { ...spent, runId }, cap };
  }

  /** What holds at every instant. */
  private check(before: Week): void {
    const { week } = this;
    const held = week.reservations.entries().reduce((sum, [, { tokens }]) => sum + tokens, 0);
    expect(week.reserved).toBe(held);
    expect(week.reserved).toBeGreaterThanOrEqual(0);
    // Whatever was admitted fits; a cap that was lowered below what is spent admits nothing.
    const grew = week.reserved + week.settled > before.reserved + before.settled;
    if (grew && this.cap !== null) expect(leftOf(week, this.cap)).toBeGreaterThanOrEqual(0);
  }
}

it('never admits more than the cap, loses and doubles nothing, and gives everything back in the end', () => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 80 }), (moves) => {
      const simulation = new Simulation();
      for (const one of moves) simulation.play(one);
      const settled = simulation.weeks.reduce(
        (sum, week) => sum + (week.situation === 'absent' ? 0 : week.settled),
        0,
      );
      expect(settled).toBe([...simulation.ended.values()].reduce((sum, tokens) => sum + tokens, 0));
      for (let i = 0; i < 12; i++) simulation.play({ kind: 'end', run: i, share: 100 });
      expect(simulation.week.reserved).toBe(0);
      expect(simulation.week.reservations.size).toBe(0);
    }),
    { numRuns: 500 },
  );
});

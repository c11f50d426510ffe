import { parseSubject, parseWeekId } from '@runyard/contracts';
import type {
  BudgetReleased,
  BudgetSettled,
  ReservationChanged,
  ReserveAnswer,
  WeekPlace,
} from '@runyard/contracts';
import { CommitTooLarge, Mailbox, handleTogether } from '@runyard/event-log';
import type { Settled } from '@runyard/event-log';
import { dayAt } from '../calendar/weeks';
import { capFor } from '../domain/caps';
import { decideTogether } from '../domain/together';
import type { Decision } from '../domain/together';
import { leftOf } from '../domain/week';
import type { Week } from '../domain/week';
import type { WeekCommand } from '../domain/week-decisions';
import { BY_LEDGER } from './budget-log.adapter';
import type { BudgetLog } from './budget-log.adapter';
import type { Weeks } from './weeks.process';

/** Commands that share a commit at most; a settlement carries its lines, and a commit has a limit. */
const TOGETHER = 200;

export interface RunOf {
  org: string;
  ownerId: string;
  runId: string;
}

/** What a root run has spent with all below it, and when it ended. */
export type TreeSpend = Omit<BudgetSettled['data'], 'reserved' | 'day' | 'runId'>;

/** What the ledger tells of its work; metrics. */
export interface LedgerObserver {
  reserved(outcome: ReserveAnswer['outcome']): void;
  committed(commands: number): void;
  settled(tokens: number): void;
}

/**
 * Reserves, settles and releases (P6). Commands for the same week that arrive while a commit is under way are decided
 * together and share the next one (architecture, section 2).
 */
export class Ledger {
  private readonly mailbox = new Mailbox<WeekCommand, Decision>(
    (subject, commands) => this.commit(subject, commands),
    TOGETHER,
  );

  constructor(
    private readonly budgets: BudgetLog,
    readonly weeks: Weeks,
    private readonly clock: () => number,
    private readonly observer: LedgerObserver,
  ) {}

  /** Once a run: asking again answers what it holds, and one that was settled or released never holds anything again. */
  async reserve(run: RunOf, tokens: number, smallest: number): Promise<ReserveAnswer> {
    const { runId } = run;
    const { after, cap } = await this.inRunningWeek(run, (limit) => ({
      type: 'Reserve',
      runId,
      tokens,
      smallest,
      cap: limit,
    }));
    const answer = answerOf(after, runId, cap);
    this.observer.reserved(answer.outcome);
    return answer;
  }

  /** More (as far as the cap leaves it) or less for a live run; answers what it holds then. */
  async change(
    run: RunOf,
    tokens: number,
    reason: ReservationChanged['data']['reason'],
    at?: number,
  ): Promise<ReserveAnswer> {
    const { runId } = run;
    const { after, cap } = await this.inRunningWeek(run, (limit) => ({
      type: 'Change',
      runId,
      tokens,
      reason,
      at,
      cap: limit,
    }));
    return answerOf(after, runId, cap);
  }

  async release(run: RunOf, reason: BudgetReleased['data']['reason']): Promise<void> {
    await this.inRunningWeek(run, () => ({ type: 'Release', runId: run.runId, reason }));
  }

  /**
   * Counts a tree in the week its root ended (P6.4). Where that week has turned, the reservation has moved on and is
   * given back there; a crash in between repeats both.
   */
  async settle(run: RunOf, spend: TreeSpend): Promise<void> {
    const { org, ownerId, runId } = run;
    const [caps, place] = await Promise.all([
      this.budgets.caps(org),
      this.weeks.covering(org, ownerId, spend.endedAt, this.clock()),
    ]);
    const spent = { ...spend, runId, day: dayAt(spend.endedAt, place.timeZone) };
    const cap = capFor(caps, ownerId).tokens;
    const { events, after } = await this.submit(run, place, { type: 'Settle', spent, cap });
    if (events.length > 0) this.observer.settled(spend.tokens);
    await this.releaseLater(run, after as Week);
  }

  private async releaseLater(run: RunOf, settledIn: Week): Promise<void> {
    for (let week = settledIn; week.situation === 'closed';) {
      // The chain is followed to its end once, so every week that is named is there.
      await this.weeks.current(run.org, run.ownerId, this.clock());
      const next = await this.weeks.week(run.org, run.ownerId, week.next?.week ?? '');
      const command = { type: 'Release', runId: run.runId, reason: 'settled_elsewhere' } as const;
      if (!next.reservations.has(run.runId)) week = next;
      else week = (await this.submit(run, next.place, command)).after as Week;
    }
  }

  /** Decides in the week that is open now; one that was closed meanwhile is left for its successor. */
  private async inRunningWeek(
    run: RunOf,
    commandWith: (cap: number | null) => WeekCommand,
  ): Promise<{ after: Week; cap: number | null }> {
    for (let again = false; ; again = true) {
      const [caps, place] = await Promise.all([
        this.budgets.caps(run.org),
        this.weeks.current(run.org, run.ownerId, this.clock(), again),
      ]);
      const cap = capFor(caps, run.ownerId).tokens;
      const { after } = await this.submit(run, place, commandWith(cap));
      if (after.situation === 'open') return { after, cap };
    }
  }

  private submit({ org, ownerId }: RunOf, place: WeekPlace, command: WeekCommand): Promise<Decision> {
    return this.mailbox.submit(this.budgets.week(org, ownerId, place.week).subject, command);
  }

  private async commit(subject: string, commands: WeekCommand[]): Promise<Settled<Decision>[]> {
    const { org = '', id = '' } = parseSubject(subject) ?? {};
    const { ownerId = '', week = '' } = parseWeekId(id) ?? {};
    let decisions: Decision[] = [];
    try {
      await handleTogether(this.budgets.log, this.budgets.week(org, ownerId, week), BY_LEDGER, (state) => {
        decisions = decideTogether(state, commands);
        return decisions.flatMap(({ events }) => events);
      });
    } catch (error) {
      if (!(error instanceof CommitTooLarge) || commands.length === 1) throw error;
      const half = Math.ceil(commands.length / 2);
      return [
        ...(await this.commit(subject, commands.slice(0, half))),
        ...(await this.commit(subject, commands.slice(half))),
      ];
    }
    this.observer.committed(commands.length);
    return decisions.map((value) => ({ value }));
  }
}

function answerOf(week: Week, runId: string, cap: number | null): ReserveAnswer {
  const held = week.reservations.get(runId);
  const left = leftOf(week, cap);
  const closed = !held && week.done.has(runId);
  return {
    outcome: held ? 'granted' : closed ? 'closed' : 'refused',
    tokens: held?.tokens ?? 0,
    cut: held?.cut ?? false,
    weekly_left: left === null ? null : left + (held?.tokens ?? 0),
    week: week.place.week,
  };
}

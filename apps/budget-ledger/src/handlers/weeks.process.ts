import type { WeekPlace } from '@runyard/contracts';
import { handle, handleTogether } from '@runyard/event-log';
import { weekAfter, weekAt } from '../calendar/weeks';
import { carriedTokens } from '../domain/week';
import type { Week } from '../domain/week';
import { decideWeek } from '../domain/week-decisions';
import { BY_LEDGER } from './budget-log.adapter';
import type { BudgetLog, WeekAggregate } from './budget-log.adapter';

/** An executor's clock may be ahead of ours by this much before it is taken for wrong. */
const CLOCKS_DIFFER_MS = 300_000;

/** Where to start looking for an owner's newest week; any week of theirs will do, a later one is quicker. */
export type WeekHint = (org: string, ownerId: string) => Promise<WeekPlace | undefined>;

export interface WeekLook {
  place: WeekPlace;
  state: 'open';
  settled: number;
  reserved: number;
}

/**
 * An owner's weeks: a chain in the log. `OwnerWeeksBegun` fixes the first one; the close of a week names the next one and
 * what it takes over (P6.3). Invariants:
 *
 * 1. Which week follows is decided once, in `WeekClosed`, under that week's expectation.
 * 2. The beginning of a week derives from the closed one alone, so whoever comes after a crash writes the same.
 * 3. Nothing is admitted to a week before all that was open in the one before has arrived in it.
 */
export class Weeks {
  /** The newest week known of each owner; a hint as well: the log says when it is closed. */
  private readonly newest = new Map<string, WeekPlace>();
  private readonly turning = new Map<string, Promise<WeekPlace>>();

  constructor(
    private readonly budgets: BudgetLog,
    private readonly hint: WeekHint,
  ) {}

  /** The owner's running week, opened where need be. `again`: what was known of it has proved wrong. */
  current(org: string, ownerId: string, at: number, again = false): Promise<WeekPlace> {
    const key = `${org} ${ownerId}`;
    const known = this.newest.get(key);
    if (known && at < known.end && !again) return Promise.resolve(known);
    const underWay = this.turning.get(key);
    if (underWay) return underWay;
    const turned = this.turn(org, ownerId, at).finally(() => this.turning.delete(key));
    this.turning.set(key, turned);
    return turned;
  }

  /** The week in which a run that ended at `endedAt` counts; the first one where it ended before all of them. */
  async covering(org: string, ownerId: string, endedAt: number, now: number): Promise<WeekPlace> {
    const at = Math.min(endedAt, now + CLOCKS_DIFFER_MS);
    let place = await this.current(org, ownerId, Math.max(at, now));
    while (at < place.start) {
      const week = await this.week(org, ownerId, place.week);
      if (week.previous === null) break;
      place = (await this.week(org, ownerId, week.previous)).place;
    }
    return place;
  }

  async week(org: string, ownerId: string, name: string): Promise<Week> {
    const state = await this.budgets.read(this.budgets.week(org, ownerId, name));
    if (state.situation === 'absent')
      throw new Error(`Week ${name} of ${ownerId} is named and was never opened`);
    return state;
  }

  /** How the owner's running week stands, without opening any; undefined for an owner without weeks. */
  async look(org: string, ownerId: string, at: number): Promise<WeekLook | undefined> {
    let place = this.newest.get(`${org} ${ownerId}`) ?? (await this.hint(org, ownerId));
    place ??= (await this.budgets.read(this.budgets.begun(org, ownerId))) ?? undefined;
    let before: Week | null = null;
    while (place) {
      const week = await this.budgets.read(this.budgets.week(org, ownerId, place.week));
      // What the close of a week has named and a lost ledger has not opened holds what was open all the same.
      if (week.situation === 'absent')
        return { place, state: 'open', settled: 0, reserved: before ? carriedTokens(before) : 0 };
      const { settled } = week;
      const reserved =
        week.situation === 'opening'
          ? carriedTokens(await this.week(org, ownerId, week.previous ?? ''))
          : week.reserved;
      if (week.situation !== 'closed' && at < week.place.end)
        return { place, state: 'open', settled, reserved };
      if (!week.next) {
        const next = weekAfter(week.place, at, await this.budgets.zone(org), reserved > 0);
        return { place: next, state: 'open', settled: 0, reserved };
      }
      before = week;
      place = week.next;
    }
    return undefined;
  }

  private async turn(org: string, ownerId: string, at: number): Promise<WeekPlace> {
    const key = `${org} ${ownerId}`;
    let place =
      this.newest.get(key) ?? (await this.hint(org, ownerId)) ?? (await this.begin(org, ownerId, at));
    let before: Week | null = null;
    for (;;) {
      const week = await this.opened(org, ownerId, place, before);
      const closed =
        week.situation === 'closed' || at >= week.place.end
          ? await this.closed(org, ownerId, week, at)
          : null;
      if (!closed?.next) {
        this.newest.set(key, week.place);
        return week.place;
      }
      before = closed;
      place = closed.next;
    }
  }

  private async begin(org: string, ownerId: string, at: number): Promise<WeekPlace> {
    const first = weekAt(at, await this.budgets.zone(org));
    const { state } = await handle(this.budgets.log, this.budgets.begun(org, ownerId), first, BY_LEDGER);
    return state ?? first;
  }

  private async opened(org: string, ownerId: string, place: WeekPlace, before: Week | null): Promise<Week> {
    const aggregate = this.budgets.week(org, ownerId, place.week);
    let state = await this.budgets.read(aggregate);
    if (state.situation === 'absent') {
      const previous = before && { week: before.place.week, carriedOut: before.carriedOut };
      state = (await handle(this.budgets.log, aggregate, { type: 'OpenWeek', place, previous }, BY_LEDGER))
        .state;
    }
    while (state.situation === 'opening') state = await this.carryOn(org, ownerId, aggregate, state);
    if (state.situation === 'absent') throw new Error(`Week ${place.week} of ${ownerId} could not be opened`);
    return state;
  }

  private async carryOn(org: string, ownerId: string, aggregate: WeekAggregate, week: Week) {
    const { carriedOut } = await this.week(org, ownerId, week.previous ?? '');
    return (await handle(this.budgets.log, aggregate, { type: 'CarryOn', carriedOut }, BY_LEDGER)).state;
  }

  /** What follows is decided on what is open in the very state that is closed. */
  private async closed(org: string, ownerId: string, week: Week, at: number): Promise<Week> {
    if (week.situation === 'closed') return week;
    const zone = await this.budgets.zone(org);
    const aggregate = this.budgets.week(org, ownerId, week.place.week);
    const { state } = await handleTogether(this.budgets.log, aggregate, BY_LEDGER, (open) => {
      if (open.situation !== 'open') return [];
      const next = weekAfter(open.place, at, zone, open.reservations.size > 0);
      return decideWeek(open, { type: 'CloseWeek', next });
    });
    return state.situation === 'absent' ? week : state;
  }
}

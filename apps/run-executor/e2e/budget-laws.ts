import { BUDGET_EVENTS, parseSubject, parseWeekId } from '@runyard/contracts';
import type { BudgetEvent, BudgetReleased, WeekEvent } from '@runyard/contracts';
import { decodeCommit, decodeEvents } from '@runyard/event-log';
import type { EventLog } from '@runyard/event-log';

/**
 * Spec-only: what the log of budgets must say at every instant, added up from its events in order by means of its own, so that
 * a fault of the ledger's own sums is seen.
 */

/** A command may have read the cap as long before its commit as it may be under way. */
const UNDER_WAY_MS = 10_000;

interface WeekSums {
  ownerId: string;
  /** What was open when the week was closed: settled here, given back in the next one. */
  carriedOut: ReadonlyMap<string, number>;
  held: Map<string, number>;
  done: Set<string>;
  settled: number;
}

export interface Books {
  weeks: Map<string, WeekSums>;
  /** Tokens that each root run was settled at. */
  settled: Map<string, number>;
  /** Roots whose reservation was given back: their log said something else in the end. */
  released: Set<string>;
  /** Grants at admission. */
  granted: Map<string, number>;
  /** Admissions that a cap made smaller. */
  cut: number;
}

export async function auditedBooks(log: EventLog): Promise<Books> {
  const auditor = new Auditor();
  const { lastSequence } = await log.state('BUDGETS');
  if (lastSequence === 0) return auditor.books;
  const stop = new AbortController();
  for await (const raw of log.tail('BUDGETS', { after: 0, signal: stop.signal })) {
    const id = parseSubject(raw.subject)?.id ?? '';
    for (const event of decodeEvents(decodeCommit(raw), BUDGET_EVENTS).events as BudgetEvent[])
      auditor.read(id, event);
    if (raw.sequence === lastSequence) stop.abort();
  }
  return auditor.books;
}

class Auditor {
  readonly books: Books = {
    weeks: new Map(),
    settled: new Map(),
    released: new Set(),
    granted: new Map(),
    cut: 0,
  };
  /** Caps of each owner, with the time until which each held; none at first. */
  private readonly caps = new Map<string, { tokens: number | null; until: number }[]>();

  read(id: string, event: BudgetEvent): void {
    if (event.type === 'OwnerWeeksBegun') return;
    if (event.type === 'OwnerCapSet') return this.capSet(event);
    if (event.type === 'DefaultCapSet' || event.type === 'OwnerCapCleared')
      throw new Error(`${event.type}: nobody has done that`);
    const week = this.week(id);
    const before = total(week);
    this.keep(week, event);
    const after = total(week);
    if (after.reserved < 0 || after.settled < 0) throw new Error(`${id}: less than nothing`);
    if (after.all > before.all) this.expectRoom(id, week, event);
  }

  private week(id: string): WeekSums {
    const ownerId = parseWeekId(id)?.ownerId ?? '';
    const week = this.books.weeks.get(id) ?? newWeek(ownerId);
    this.books.weeks.set(id, week);
    return week;
  }

  private keep(week: WeekSums, event: WeekEvent): void {
    switch (event.type) {
      case 'WeekOpened':
      case 'ReservationsCarried':
        for (const { runId, tokens } of event.data.carried) week.held.set(runId, tokens);
        return;
      case 'WeekClosed':
        week.carriedOut = week.held;
        week.held = new Map();
        return;
      case 'BudgetReserved':
        return this.reserved(week, event.data);
      case 'ReservationChanged':
        expectHeld(week, event.data.runId);
        week.held.set(event.data.runId, event.data.tokens);
        return;
      case 'BudgetReleased':
        return this.released(week, event.data);
      case 'BudgetSettled':
        return this.settled(week, event.data);
      case 'GrantOverrun':
        throw new Error(`${event.data.runId} used ${event.data.used} of ${event.data.granted}`);
      default:
    }
  }

  private reserved(week: WeekSums, data: { runId: string; tokens: number; cut: boolean }): void {
    if (week.held.has(data.runId) || week.done.has(data.runId))
      throw new Error(`${data.runId} was admitted twice`);
    if (data.tokens <= 0) throw new Error(`${data.runId} was granted ${data.tokens}`);
    week.held.set(data.runId, data.tokens);
    this.books.granted.set(data.runId, data.tokens);
    if (data.cut) this.books.cut += 1;
  }

  private released(week: WeekSums, { runId, tokens, reason }: BudgetReleased['data']): void {
    expectEqual(runId, 'released', tokens, expectHeld(week, runId));
    week.held.delete(runId);
    week.done.add(runId);
    if (reason !== 'settled_elsewhere') this.books.released.add(runId);
  }

  private settled(
    week: WeekSums,
    data: { runId: string; tokens: number; own: number; children: number },
  ): void {
    const { runId, tokens } = data;
    if (this.books.settled.has(runId)) throw new Error(`${runId} was settled twice`);
    const held = week.carriedOut.get(runId) ?? expectHeld(week, runId);
    if (tokens < 0 || tokens > held) throw new Error(`${runId} was settled at ${tokens} of ${held}`);
    expectEqual(runId, 'its parts', data.own + data.children, tokens);
    week.held.delete(runId);
    week.done.add(runId);
    week.settled += tokens;
    this.books.settled.set(runId, tokens);
  }

  /** Settled + reserved has grown: it fits a cap that held when the command was decided. */
  private expectRoom(id: string, week: WeekSums, event: WeekEvent): void {
    const lately = this.capsOf(week.ownerId).filter(({ until }) => until >= event.time - UNDER_WAY_MS);
    const caps = lately.map(({ tokens }) => tokens);
    const { all } = total(week);
    const fits = (cap: number | null) => cap === null || all <= cap;
    if (event.type === 'BudgetReserved' && !(caps.includes(event.data.cap) && fits(event.data.cap)))
      throw new Error(
        `${id}: ${all} after ${JSON.stringify(event.data)}, where the caps were ${caps.join()}`,
      );
    if (event.type === 'ReservationChanged' && !caps.some(fits))
      throw new Error(
        `${id}: ${all} after ${JSON.stringify(event.data)}, where the caps were ${caps.join()}`,
      );
  }

  private capSet({ data: { ownerId, tokens }, time }: Extract<BudgetEvent, { type: 'OwnerCapSet' }>): void {
    const caps = this.capsOf(ownerId);
    const last = caps.at(-1);
    if (last) last.until = time;
    this.caps.set(ownerId, [...caps, { tokens, until: Infinity }]);
  }

  private capsOf(ownerId: string): { tokens: number | null; until: number }[] {
    return this.caps.get(ownerId) ?? [{ tokens: null, until: Infinity }];
  }
}

const newWeek = (ownerId: string): WeekSums => ({
  ownerId,
  carriedOut: new Map(),
  held: new Map(),
  done: new Set(),
  settled: 0,
});

function total({ held, settled }: WeekSums): { reserved: number; settled: number; all: number } {
  const reserved = [...held.values()].reduce((sum, tokens) => sum + tokens, 0);
  return { reserved, settled, all: reserved + settled };
}

function expectHeld(week: WeekSums, runId: string): number {
  const tokens = week.held.get(runId);
  if (tokens === undefined) throw new Error(`${runId} holds nothing`);
  return tokens;
}

function expectEqual(runId: string, what: string, one: number, other: number): void {
  if (one !== other) throw new Error(`${runId}: ${what} ${one}, held ${other}`);
}

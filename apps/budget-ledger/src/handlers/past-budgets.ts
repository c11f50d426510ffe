import { Problem } from '@runyard/contracts';
import type { BudgetRow } from '@runyard/contracts';
import type { Database } from '@runyard/persistence';
import { weekAfter, weekAt } from '../calendar/weeks';
import { budgetAsOf, budgetsAsOf, momentOf } from '../projections/budget-as-of.queries';
import { listWeeks } from '../projections/budget.queries';
import type { WeekStanding } from '../projections/budget.queries';
import { budgetRow } from './budget-row';

/** Budgets as they stood at an earlier moment. */
export class PastBudgets {
  constructor(
    private readonly db: Database,
    /** The org's zone: of owners whose first week came later. */
    private readonly zoneOf: (org: string) => Promise<string>,
  ) {}

  /** The week that was running then, or the one that is named. Throws `not_found` for a named one that was not there. */
  async one(org: string, asOf: string, ownerId: string, week: string | undefined): Promise<BudgetRow> {
    const at = await momentOf(this.db, asOf);
    const { standing, cap } = await budgetAsOf(this.db, { org, asOf }, { ownerId, week, at });
    if (week !== undefined && !standing)
      throw new Problem('not_found', `The owner had no such week as of ${asOf}`);
    if (standing && (week !== undefined || at < standing.place.end)) return budgetRow(standing, cap);
    return budgetRow(standing ? following(standing, at) : await this.unspent(org, ownerId, at), cap);
  }

  /** Weeks of that name, or those that were running then, by owner; a page may have fewer where some came later. */
  async page(
    org: string,
    asOf: string,
    { week, ...page }: { week?: string; ownerId: string | null; after: string | null; most: number },
  ): Promise<{ data: BudgetRow[]; next: string | null }> {
    const at = await momentOf(this.db, asOf);
    const which = week === undefined ? { at } : { week };
    const all = await this.db.inOrg(org, (tx) => listWeeks(tx, { ...which, ...page, most: page.most + 1 }));
    const weeks = all.slice(0, page.most).map(({ ownerId, place }) => ({ ownerId, week: place.week }));
    const found = await budgetsAsOf(this.db, { org, asOf }, weeks);
    const data = found.map(({ standing, cap }) => budgetRow(standing, cap));
    return { data, next: all.length > page.most ? (weeks.at(-1)?.ownerId ?? null) : null };
  }

  private async unspent(org: string, ownerId: string, at: number): Promise<WeekStanding> {
    const place = weekAt(at, await this.zoneOf(org));
    return { ownerId, place, state: 'open', settled: 0, reserved: 0 };
  }
}

/** A week that nobody had opened yet: what the one before holds goes on in it. */
function following({ ownerId, place, reserved }: WeekStanding, at: number): WeekStanding {
  const next = weekAfter(place, at, place.timeZone, reserved > 0);
  return { ownerId, place: next, state: 'open', settled: 0, reserved };
}

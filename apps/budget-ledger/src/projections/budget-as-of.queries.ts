import { CAPS_ID, weekId } from '@runyard/contracts';
import { instantOf, rowsAsOf, sequenceNamed } from '@runyard/persistence';
import type { Database, Tx } from '@runyard/persistence';
import { budgetsReached, capsByScope, findWeek, listWeeks, newestWeek, weeksBegun } from './budget.queries';
import type { WeekStanding } from './budget.queries';
import { BUDGETS, BUDGET_TABLES } from './budgets.projection';
import { DEFAULT_SCOPE } from './records';

/** A budget as it stood, with the cap that held then. */
export interface PastBudget {
  standing: WeekStanding;
  cap: number | null;
}

interface Moment {
  org: string;
  asOf: string;
}

/** One week may have begun in the rows and not been opened in the log by then: what it carried lay in the one before. */
const ENOUGH_WEEKS = 2;

/** The instant of an earlier moment, epoch ms; the rows that name weeks have reached it then. */
export async function momentOf(db: Database, asOf: string): Promise<number> {
  const at = await instantOf(db, { asOf, projection: BUDGETS });
  if (sequenceNamed(asOf) !== undefined) await budgetsReached(db, asOf);
  return at;
}

/** An owner's named week, or the newest that was there by `at`; undefined: none was. The cap is told in any case. */
export async function budgetAsOf(
  db: Database,
  moment: Moment,
  { ownerId, week, at }: { ownerId: string; week?: string; at: number },
): Promise<{ standing?: WeekStanding; cap: number | null }> {
  const begun = () => db.inOrg(moment.org, (tx) => weeksBegun(tx, ownerId, at, ENOUGH_WEEKS));
  const weeks = week === undefined ? await begun() : [week];
  const ids = weeks.map((name) => weekId(ownerId, name));
  return past(db, moment, ids, async (tx, capOf) => ({
    standing: await (week === undefined ? newestWeek(tx, ownerId) : findWeek(tx, ownerId, week)),
    cap: capOf(ownerId),
  }));
}

/** Budgets of owners whose weeks are named; those that were not there by then are left out. */
export function budgetsAsOf(
  db: Database,
  moment: Moment,
  weeks: readonly { ownerId: string; week: string }[],
): Promise<PastBudget[]> {
  const ids = weeks.map(({ ownerId, week }) => weekId(ownerId, week));
  return past(db, moment, ids, async (tx, capOf) => {
    const found = await listWeeks(tx, { ownerId: null, after: null, most: weeks.length });
    return found.map((standing) => ({ standing, cap: capOf(standing.ownerId) }));
  });
}

function past<T>(
  db: Database,
  { org, asOf }: Moment,
  weeks: readonly string[],
  read: (tx: Tx, capOf: (ownerId: string) => number | null) => Promise<T>,
): Promise<T> {
  const ids = [CAPS_ID, ...weeks];
  const rows = { org, context: 'budgets', ids, asOf, projection: BUDGETS, tables: BUDGET_TABLES } as const;
  return rowsAsOf(db, rows, async (tx) => {
    const caps = await capsByScope(tx);
    return read(tx, (ownerId) => caps.get(caps.has(ownerId) ? ownerId : DEFAULT_SCOPE) ?? null);
  });
}

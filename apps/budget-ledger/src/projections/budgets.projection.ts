import { BUDGET_EVENTS, parseWeekId } from '@runyard/contracts';
import type { BudgetEvent, CapsEvent, WeekEvent } from '@runyard/contracts';
import { RowChanges, eventsOf, isOrg } from '@runyard/persistence';
import type { ProjectedEvent, Projection, Tx } from '@runyard/persistence';
import { CAPS, DEFAULT_SCOPE, RESERVATIONS, WEEKS } from './records';
import type { CapRecord, WeekRecord } from './records';
import { insertSettlements } from './settlements';
import type { RecordedSettlement } from './settlements';
import { applyWeek, runsOf } from './week-rows';

type Recorded<E extends BudgetEvent = BudgetEvent> = ProjectedEvent<E>;
type RecordedWeek = Recorded<WeekEvent> & { ownerId: string; week: string };

/** What budgets stand at, and what was spent. */
export const BUDGETS: Projection = {
  name: 'budgets',
  version: 1,
  stream: 'BUDGETS',
  gatherMs: 200,
  async apply(tx, commits) {
    const events = commits
      .flatMap((commit) => eventsOf<BudgetEvent>(commit, BUDGET_EVENTS))
      .filter(({ org }) => isOrg(org));
    await applyCaps(tx, events.filter(isOfCaps));
    await applyWeeks(tx, events.flatMap(ofWeek));
  },
};

/** All tables that it writes. */
export const BUDGET_TABLES = ['spend_caps', 'budget_weeks', 'reservations', 'settlements', 'spend_lines'];

const CAP_EVENTS: ReadonlySet<string> = new Set(['DefaultCapSet', 'OwnerCapSet', 'OwnerCapCleared']);

const isOfCaps = (recorded: Recorded): recorded is Recorded<CapsEvent> => CAP_EVENTS.has(recorded.event.type);

function ofWeek(recorded: Recorded): RecordedWeek[] {
  const place = parseWeekId(recorded.aggregate);
  // The subject says that it is a week's, and a week holds nothing else.
  return place ? [{ ...(recorded as Recorded<WeekEvent>), ...place }] : [];
}

async function applyCaps(tx: Tx, events: readonly Recorded<CapsEvent>[]): Promise<void> {
  if (events.length === 0) return;
  const keyOf = ({ org, event }: Recorded<CapsEvent>) => ({
    org_id: org,
    scope: 'ownerId' in event.data ? event.data.ownerId : DEFAULT_SCOPE,
  });
  const rows = await RowChanges.load<CapRecord>(tx, CAPS, events.map(keyOf));
  for (const recorded of events) {
    const { event, sequence, index } = recorded;
    const key = keyOf(recorded);
    if (event.type === 'OwnerCapCleared') rows.delete(key);
    else
      rows.set({
        ...key,
        tokens: event.data.tokens,
        changed_at: new Date(event.time).toISOString(),
        changed_by: event.actor,
        position: `${sequence}.${index}`,
      });
  }
  await rows.save(tx);
}

async function applyWeeks(tx: Tx, events: readonly RecordedWeek[]): Promise<void> {
  if (events.length === 0) return;
  const keyOf = ({ org, ownerId, week }: RecordedWeek) => ({ org_id: org, owner_id: ownerId, week });
  const weeks = await RowChanges.load<WeekRecord>(tx, WEEKS, events.map(keyOf));
  const reservations = await RowChanges.load(
    tx,
    RESERVATIONS,
    events.flatMap((recorded) => runsOf(recorded.event).map((run_id) => ({ ...keyOf(recorded), run_id }))),
  );
  const closed: object[] = [];
  const settled: RecordedSettlement[] = [];
  for (const recorded of events) {
    const { event, sequence, index } = recorded;
    const key = keyOf(recorded);
    applyWeek(weeks, reservations, { key, event, position: `${sequence}.${index}` });
    if (event.type === 'WeekClosed') closed.push(key);
    if (event.type === 'BudgetSettled')
      settled.push({ ...key, data: event.data, position: `${sequence}.${index}` });
  }
  await weeks.save(tx);
  await reservations.save(tx);
  await dropReservations(tx, closed);
  await insertSettlements(tx, settled);
}

/** What is open at the close of a week belongs to the next one, whose beginning names it. */
async function dropReservations(tx: Tx, weeks: readonly object[]): Promise<void> {
  if (weeks.length === 0) return;
  await tx.query(
    `DELETE FROM reservations r USING jsonb_to_recordset($1::jsonb) AS w (org_id uuid, owner_id uuid, week date)
     WHERE (r.org_id, r.owner_id, r.week) = (w.org_id, w.owner_id, w.week)`,
    [JSON.stringify(weeks)],
  );
}

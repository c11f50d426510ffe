import { isoTime } from '@runyard/contracts';
import type { BudgetRow } from '@runyard/contracts';
import type { WeekStanding } from '../projections/budget.queries';

/** A budget as it is answered. */
export function budgetRow(standing: WeekStanding, cap: number | null): BudgetRow {
  const { ownerId, place, state, settled, reserved } = standing;
  return {
    owner_id: ownerId,
    week: place.week,
    starts_at: isoTime(place.start),
    ends_at: isoTime(place.end),
    time_zone: place.timeZone,
    state,
    cap,
    settled,
    reserved,
    left: cap === null ? null : cap - settled - reserved,
  };
}

import { isoTime } from '@runyard/contracts';
import type { CarriedReservation, WeekEvent } from '@runyard/contracts';
import type { RowChanges } from '@runyard/persistence';
import type { ReservationRecord, WeekRecord } from './records';

interface WeekKey {
  org_id: string;
  owner_id: string;
  week: string;
}
interface Applied {
  key: WeekKey;
  event: WeekEvent;
  position: string;
}

/** Runs whose reservation an event may touch. */
export function runsOf(event: WeekEvent): string[] {
  switch (event.type) {
    case 'WeekOpened':
    case 'ReservationsCarried':
      return event.data.carried.map(({ runId }) => runId);
    case 'BudgetReserved':
    case 'ReservationChanged':
    case 'BudgetReleased':
    case 'BudgetSettled':
      return [event.data.runId];
    default:
      return [];
  }
}

/** A week's row with its reservations, as events change them. */
class WeekRow {
  readonly after: WeekRecord;

  constructor(
    row: WeekRecord,
    private readonly key: WeekKey,
    private readonly reservations: RowChanges<ReservationRecord>,
    private readonly time: string,
  ) {
    this.after = { ...row };
  }

  hold({ runId, tokens, cut }: Omit<CarriedReservation, 'cut'> & { cut?: boolean }): void {
    const before = this.reservations.get({ ...this.key, run_id: runId });
    this.after.reserved += tokens - (before?.tokens ?? 0);
    const reserved_at = before?.reserved_at ?? this.time;
    this.reservations.set({
      ...this.key,
      run_id: runId,
      tokens,
      cut: cut ?? before?.cut ?? false,
      reserved_at,
    });
  }

  drop(runId: string): void {
    this.after.reserved -= this.reservations.get({ ...this.key, run_id: runId })?.tokens ?? 0;
    this.reservations.delete({ ...this.key, run_id: runId });
  }

  /** A closed week holds nothing any more; what it settles was held by its successor. */
  settle(runId: string, tokens: number): void {
    if (this.after.state === 'open') this.drop(runId);
    this.after.settled += tokens;
  }

  close(next: string): void {
    Object.assign(this.after, { state: 'closed', next, reserved: 0 });
  }

  reach(percent: 80 | 100): void {
    this.after[percent === 80 ? 'reached_80_at' : 'reached_100_at'] = this.time;
  }
}

/** What an event makes of the rows of its week. */
export function applyWeek(
  weeks: RowChanges<WeekRecord>,
  reservations: RowChanges<ReservationRecord>,
  { key, event, position }: Applied,
): void {
  const before = event.type === 'WeekOpened' ? opened(key, event, position) : weeks.get(key);
  if (!before) return;
  const row = new WeekRow(before, key, reservations, isoTime(event.time));
  apply(row, event);
  weeks.set({ ...row.after, position });
}

function apply(row: WeekRow, event: WeekEvent): void {
  switch (event.type) {
    case 'WeekOpened':
    case 'ReservationsCarried':
      return event.data.carried.forEach((carried) => row.hold(carried));
    case 'WeekClosed':
      return row.close(event.data.next.week);
    case 'BudgetReserved':
      return row.hold(event.data);
    case 'ReservationChanged':
      return row.hold({ runId: event.data.runId, tokens: event.data.tokens });
    case 'BudgetReleased':
      return row.drop(event.data.runId);
    case 'BudgetSettled':
      return row.settle(event.data.runId, event.data.tokens);
    case 'GrantOverrun':
      return void (row.after.overruns += 1);
    case 'CapReached':
      return row.reach(event.data.percent);
    default:
      return event satisfies never;
  }
}

type Opening = Extract<WeekEvent, { type: 'WeekOpened' }>;

const opened = (key: WeekKey, { data }: Opening, position: string): WeekRecord => ({
  ...key,
  starts_at: isoTime(data.start),
  ends_at: isoTime(data.end),
  time_zone: data.timeZone,
  previous: data.previous,
  next: null,
  state: 'open',
  settled: 0,
  reserved: 0,
  overruns: 0,
  reached_80_at: null,
  reached_100_at: null,
  position,
});

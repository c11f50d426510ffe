import type { DomainEvent } from '../envelope';
import type { SpendLine } from '../runs/run-spend';

// Context `budgets`. Aggregates: `caps` (one an org), `owner-<uuid>` (where an owner's weeks begin) and
// `week-<uuid>-<Sunday>` (what an owner reserved and spent in a week).

export const CAPS_ID = 'caps';
export const ownerWeeksId = (ownerId: string): string => `owner-${ownerId}`;
export const weekId = (ownerId: string, week: string): string => `week-${ownerId}-${week}`;

/** The inverse of {@link weekId}; undefined for the id of another aggregate. */
export function parseWeekId(id: string): { ownerId: string; week: string } | undefined {
  const match = /^week-([0-9a-fA-F-]{36})-(\d{4}-\d{2}-\d{2})$/.exec(id);
  const [, ownerId, week] = match ?? [];
  return ownerId && week ? { ownerId, week } : undefined;
}

/** Tokens an owner may spend in a week; null: as many as they like. */
export type DefaultCapSet = DomainEvent<'DefaultCapSet', { tokens: number | null }>;
/** The owner's own cap, ahead of the org's default; null: no cap. */
export type OwnerCapSet = DomainEvent<'OwnerCapSet', { ownerId: string; tokens: number | null }>;
/** The org's default holds for the owner again. */
export type OwnerCapCleared = DomainEvent<'OwnerCapCleared', { ownerId: string }>;

/** A week and its boundaries, epoch milliseconds: `start` belongs to it, `end` does not. `week` is the date of its Sunday. */
export interface WeekPlace {
  week: string;
  start: number;
  end: number;
  /** Zone whose Sundays bound it, IANA name. */
  timeZone: string;
}

/** The first week of an owner; every later one is named by the close of the one before. */
export type OwnerWeeksBegun = DomainEvent<'OwnerWeeksBegun', WeekPlace>;

/** A reservation of a run that was unfinished at the week's turn. */
export interface CarriedReservation {
  runId: string;
  tokens: number;
  cut: boolean;
  /** As in `ReservationChanged`. */
  at?: number;
}

/** First event of a week. `more`: how many carried reservations follow in `ReservationsCarried`; nothing is reserved before. */
export type WeekOpened = DomainEvent<
  'WeekOpened',
  WeekPlace & { previous: string | null; carried: CarriedReservation[]; more: number }
>;
/** Further reservations that were open when the week before closed. */
export type ReservationsCarried = DomainEvent<
  'ReservationsCarried',
  { carried: CarriedReservation[]; more: number }
>;
/** Nothing is reserved in this week any more; what is open moves to `next`. Runs that ended in it still settle here. */
export type WeekClosed = DomainEvent<'WeekClosed', { next: WeekPlace }>;

/** `cut`: the cap left less than the run might have had. */
export type BudgetReserved = DomainEvent<
  'BudgetReserved',
  { runId: string; tokens: number; cut: boolean; cap: number | null }
>;
/** A live run's reservation was made larger or smaller; `tokens` is what it holds from now on. */
export type ReservationChanged = DomainEvent<
  'ReservationChanged',
  {
    runId: string;
    tokens: number;
    reason: 'extended' | 'parked' | 'woken';
    /** Place in the run's log that the change follows from; what follows from an earlier place changes nothing any more. */
    at?: number;
  }
>;
/** A reservation was given back unused. */
export type BudgetReleased = DomainEvent<
  'BudgetReleased',
  { runId: string; tokens: number; reason: 'not_needed' | 'lost' | 'settled_elsewhere' }
>;

/** What one run of a tree spent with one model. */
export interface TreeSpendLine extends SpendLine {
  runId: string;
  agentId: string;
}

/** A root run has ended: all tokens of its tree count in this week. */
export type BudgetSettled = DomainEvent<
  'BudgetSettled',
  {
    runId: string;
    agentId: string;
    /** Tokens of the tree: `own + children`. */
    tokens: number;
    own: number;
    children: number;
    /** What had been reserved; 0 where nothing was. */
    reserved: number;
    /** Epoch milliseconds, and the date of it in the week's zone. */
    endedAt: number;
    day: string;
    lines: TreeSpendLine[];
  }
>;
/** A run used more than it was granted: a provider counted more than the worst case. It counts, and blocks admission. */
export type GrantOverrun = DomainEvent<'GrantOverrun', { runId: string; granted: number; used: number }>;
/** What was spent has reached a share of the cap; once a week for a cap and share. */
export type CapReached = DomainEvent<'CapReached', { percent: 80 | 100; cap: number; settled: number }>;

export type CapsEvent = DefaultCapSet | OwnerCapSet | OwnerCapCleared;
export type WeekEvent =
  | WeekOpened
  | ReservationsCarried
  | WeekClosed
  | BudgetReserved
  | ReservationChanged
  | BudgetReleased
  | BudgetSettled
  | GrantOverrun
  | CapReached;
export type BudgetEvent = CapsEvent | OwnerWeeksBegun | WeekEvent;

export const BUDGET_EVENTS: Readonly<Record<BudgetEvent['type'], true>> = {
  DefaultCapSet: true,
  OwnerCapSet: true,
  OwnerCapCleared: true,
  OwnerWeeksBegun: true,
  WeekOpened: true,
  ReservationsCarried: true,
  WeekClosed: true,
  BudgetReserved: true,
  ReservationChanged: true,
  BudgetReleased: true,
  BudgetSettled: true,
  GrantOverrun: true,
  CapReached: true,
};

import type { CarriedReservation, WeekEvent, WeekPlace } from '@runyard/contracts';
import { RunMap } from './run-map';

export interface Reservation {
  tokens: number;
  cut: boolean;
  /** Place in the run's log that it follows from; undefined: its admission. */
  at?: number;
}

/** What became of a run here; it never holds anything in this week again. */
export interface Done {
  how: 'settled' | 'released';
  tokens: number;
}

/** An owner's week. */
export interface Week {
  /** `opening`: reservations of the week before are still being carried over; nothing is admitted. */
  situation: 'opening' | 'open' | 'closed';
  place: WeekPlace;
  previous: string | null;
  /** Carried reservations that are still to come. */
  more: number;
  /** Set when closed. */
  next: WeekPlace | null;
  reservations: RunMap<Reservation>;
  /** What was open when the week was closed; the next week's beginning derives from it. */
  carriedOut: RunMap<Reservation>;
  done: RunMap<Done>;
  reserved: number;
  settled: number;
  /** The cap for which a share was announced last. */
  reached: Readonly<Record<80 | 100, number | null>>;
}

export type WeekState = { situation: 'absent' } | Week;

export const NO_WEEK: WeekState = { situation: 'absent' };

/** What the owner may still be granted; null: as much as they like. Negative after an overrun or a lowered cap. */
export const leftOf = (week: Week, cap: number | null): number | null =>
  cap === null ? null : cap - week.settled - week.reserved;

/** Tokens of what was open when the week was closed. */
export const carriedTokens = (week: Week): number =>
  week.carriedOut.entries().reduce((sum, [, { tokens }]) => sum + tokens, 0);

export function evolveWeek(week: WeekState, event: WeekEvent): WeekState {
  if (week.situation === 'absent') return event.type === 'WeekOpened' ? opened(event.data) : week;
  switch (event.type) {
    case 'ReservationsCarried':
      return carriedIn(week, event.data.carried, event.data.more);
    case 'WeekClosed':
      return closed(week, event.data.next);
    case 'BudgetReserved': {
      const { runId, tokens, cut } = event.data;
      return hold(week, runId, { tokens, cut });
    }
    case 'ReservationChanged': {
      const { runId, tokens, at } = event.data;
      const before = week.reservations.get(runId);
      return hold(week, runId, { tokens, cut: before?.cut ?? false, at: at ?? before?.at });
    }
    case 'BudgetReleased':
      return finish(week, event.data.runId, { how: 'released', tokens: 0 });
    case 'BudgetSettled':
      return finish(week, event.data.runId, { how: 'settled', tokens: event.data.tokens });
    case 'CapReached':
      return { ...week, reached: { ...week.reached, [event.data.percent]: event.data.cap } };
    case 'GrantOverrun':
    case 'WeekOpened':
      return week;
    default:
      return event satisfies never;
  }
}

type Opening = Extract<WeekEvent, { type: 'WeekOpened' }>['data'];

function opened({ previous, carried, more, ...place }: Opening): Week {
  const none: Week = {
    situation: 'opening',
    place,
    previous,
    more,
    next: null,
    reservations: RunMap.empty(),
    carriedOut: RunMap.empty(),
    done: RunMap.empty(),
    reserved: 0,
    settled: 0,
    reached: { 80: null, 100: null },
  };
  return carriedIn(none, carried, more);
}

function carriedIn(week: Week, carried: readonly CarriedReservation[], more: number): Week {
  const held = carried.reduce((after, { runId, ...held }) => hold(after, runId, held), week);
  return { ...held, more, situation: more === 0 ? 'open' : 'opening' };
}

/** From now on the reservations are the next week's. */
function closed(week: Week, next: WeekPlace): Week {
  const { reservations } = week;
  return {
    ...week,
    situation: 'closed',
    next,
    carriedOut: reservations,
    reservations: RunMap.empty(),
    reserved: 0,
  };
}

function hold(week: Week, runId: string, reservation: Reservation): Week {
  const before = week.reservations.get(runId)?.tokens ?? 0;
  const reservations = week.reservations.with(runId, reservation);
  return { ...week, reservations, reserved: week.reserved - before + reservation.tokens };
}

function finish(week: Week, runId: string, done: Done): Week {
  const held = week.reservations.get(runId)?.tokens ?? 0;
  return {
    ...week,
    reservations: week.reservations.without(runId),
    reserved: week.reserved - held,
    done: week.done.with(runId, done),
    settled: week.settled + done.tokens,
  };
}

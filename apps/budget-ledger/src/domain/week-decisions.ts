import { Problem } from '@runyard/contracts';
import type { BudgetReleased, NewEvent, ReservationChanged, WeekEvent } from '@runyard/contracts';
import type { BudgetSettled, CarriedReservation, WeekPlace } from '@runyard/contracts';
import type { RunMap } from './run-map';
import { leftOf } from './week';
import type { Reservation, Week, WeekState } from './week';

/** Carried reservations in one commit: about 100 bytes each, and a commit stays far below its limit. */
export const CARRIED_AT_ONCE = 1_000;

type Decided<E = WeekEvent> = E extends { type: infer T extends string; data: infer D }
  ? NewEvent<T, D>
  : never;
export type WeekDecision = Decided;

/** `cap` travels with what depends on it: caps are another aggregate and are read at each command. */
export type WeekCommand =
  | { type: 'Reserve'; runId: string; tokens: number; smallest: number; cap: number | null }
  | {
      type: 'Change';
      runId: string;
      tokens: number;
      cap: number | null;
      reason: ReservationChanged['data']['reason'];
      at?: number;
    }
  | { type: 'Release'; runId: string; reason: BudgetReleased['data']['reason'] }
  | { type: 'Settle'; spent: Omit<BudgetSettled['data'], 'reserved'>; cap: number | null }
  | { type: 'OpenWeek'; place: WeekPlace; previous: { week: string; carriedOut: RunMap<Reservation> } | null }
  | { type: 'CarryOn'; carriedOut: RunMap<Reservation> }
  | { type: 'CloseWeek'; next: WeekPlace };

/** Saying it twice is harmless: each command is decided once a run, or once a week. */
export function decideWeek(week: WeekState, command: WeekCommand): WeekDecision[] {
  if (command.type === 'OpenWeek') return week.situation === 'absent' ? [open(command)] : [];
  if (week.situation === 'absent') throw new Problem('not_found', 'The week has not begun.');
  switch (command.type) {
    case 'Reserve':
      return reserve(week, command);
    case 'Change':
      return change(week, command);
    case 'Release':
      return release(week, command);
    case 'Settle':
      return settle(week, command);
    case 'CarryOn':
      return carryOn(week, command.carriedOut);
    case 'CloseWeek':
      return week.situation === 'open' ? [{ type: 'WeekClosed', data: { next: command.next } }] : [];
    default:
      return command satisfies never;
  }
}

/**
 * Less than the first call may need is nothing (P6.1); a refusal leaves no event of its own. A cap that was changed since is
 * met here first: lowered to what is spent, it would see no further settlement that could announce it.
 */
function reserve(
  week: Week,
  { runId, tokens, smallest, cap }: Extract<WeekCommand, { type: 'Reserve' }>,
): WeekDecision[] {
  if (week.situation !== 'open' || week.reservations.has(runId) || week.done.has(runId)) return [];
  const announced = cap === null || week.settled === 0 ? [] : reached(week, week.settled, cap);
  const left = leftOf(week, cap);
  const granted = left === null ? tokens : Math.min(tokens, left);
  if (granted < Math.min(smallest, tokens) || granted <= 0) return announced;
  const cut = granted < tokens;
  return [{ type: 'BudgetReserved', data: { runId, tokens: granted, cut, cap } }, ...announced];
}

/**
 * More is given as far as the cap leaves it; less always. What a run's log says may arrive in another order than it was
 * said, so that what follows from an earlier place than the last change is left out: a run that was woken would lose what
 * it has just been given (P5.6). A waking is therefore recorded even where it finds everything still there.
 */
function change(week: Week, command: Extract<WeekCommand, { type: 'Change' }>): WeekDecision[] {
  const { runId, tokens, cap, reason, at } = command;
  const held = week.reservations.get(runId);
  if (week.situation !== 'open' || !held) return [];
  const known = held.at ?? 0;
  if (at !== undefined && at < known) return [];
  const left = leftOf(week, cap);
  const room = reason === 'parked' ? 0 : left;
  const most = room === null ? tokens : Math.min(tokens, held.tokens + Math.max(0, room));
  const news = most !== held.tokens || (reason === 'woken' && at !== undefined && at > known);
  if (!news) return [];
  const place = at === undefined ? {} : { at };
  return [{ type: 'ReservationChanged', data: { runId, tokens: most, reason, ...place } }];
}

function release(week: Week, { runId, reason }: Extract<WeekCommand, { type: 'Release' }>): WeekDecision[] {
  const held = week.reservations.get(runId);
  return held ? [{ type: 'BudgetReleased', data: { runId, tokens: held.tokens, reason } }] : [];
}

/** Actual usage always settles, also without a reservation and in a closed week (P6.2). */
function settle(week: Week, { spent, cap }: Extract<WeekCommand, { type: 'Settle' }>): WeekDecision[] {
  const { runId, tokens } = spent;
  if (week.done.get(runId)?.how === 'settled') return [];
  const held = week.reservations.get(runId) ?? week.carriedOut.get(runId);
  const reserved = held?.tokens ?? 0;
  const events: WeekDecision[] = [{ type: 'BudgetSettled', data: { ...spent, reserved } }];
  if (held && tokens > reserved)
    events.push({ type: 'GrantOverrun', data: { runId, granted: reserved, used: tokens } });
  return cap === null ? events : [...events, ...reached(week, week.settled + tokens, cap)];
}

/** Shares of the cap that are spent by now and were not announced for this very cap. */
function reached(week: Week, settled: number, cap: number): WeekDecision[] {
  const crossed = ([80, 100] as const).filter(
    (percent) => settled * 100 >= cap * percent && week.reached[percent] !== cap,
  );
  return crossed.map((percent) => ({ type: 'CapReached', data: { percent, cap, settled } }));
}

const carried = (from: RunMap<Reservation>): CarriedReservation[] =>
  from
    .entries()
    .map(([runId, { tokens, cut, at }]) => ({ runId, tokens, cut, ...(at === undefined ? {} : { at }) }));

function open({ place, previous }: Extract<WeekCommand, { type: 'OpenWeek' }>): WeekDecision {
  const all = previous ? carried(previous.carriedOut) : [];
  const first = all.slice(0, CARRIED_AT_ONCE);
  return {
    type: 'WeekOpened',
    data: {
      ...place,
      previous: previous?.week ?? null,
      carried: first,
      more: all.length - first.length,
    },
  };
}

function carryOn(week: Week, carriedOut: RunMap<Reservation>): WeekDecision[] {
  if (week.situation !== 'opening') return [];
  const left = carried(carriedOut).slice(carriedOut.size - week.more);
  const part = left.slice(0, CARRIED_AT_ONCE);
  return [{ type: 'ReservationsCarried', data: { carried: part, more: week.more - part.length } }];
}

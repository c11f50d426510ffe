import { Problem } from '@runyard/contracts';
import type { BulkEvent, BulkResult, NewEvent } from '@runyard/contracts';
import { evolveBulkAction } from './bulk-action';
import type { BulkAction, BulkWish, OpenBulkAction } from './bulk-action';

export type BulkCommand =
  | { type: 'StartBulkAction'; wish: BulkWish }
  /** The next page of what the filter finds; `after`: how many were chosen when it was read. */
  | { type: 'ChooseRuns'; after: number; runIds: string[]; complete: boolean; most: number }
  /** What became of the runs from place `from` on that were under way. */
  | { type: 'RecordResults'; from: number; results: BulkResult[]; most: number }
  | { type: 'GoOn'; most: number }
  | { type: 'AbortBulkAction' };

type Decided<E = BulkEvent> = E extends { type: infer T extends string; data: infer D }
  ? NewEvent<T, D>
  : never;

/**
 * What is recorded, together with what follows from it: the next runs that are begun (`most` at a time), or the end. A
 * command that comes too late, since another process was faster, yields no events. Throws `not_found`, `conflict`,
 * `idempotency_key_reused`.
 */
export function decideBulkAction(action: BulkAction, command: BulkCommand): Decided[] {
  if (command.type === 'StartBulkAction') return start(action, command.wish);
  if (action.situation === 'absent') throw new Problem('not_found', 'There is no such bulk action.');
  if (command.type === 'AbortBulkAction') return abort(action);
  if (action.situation === 'ended') return [];
  switch (command.type) {
    case 'ChooseRuns': {
      const { after, runIds, complete, most } = command;
      if (action.chosen || action.runIds.length !== after) return [];
      return withNext(action, [{ type: 'BulkRunsChosen', data: { runIds, complete } }], most);
    }
    case 'RecordResults': {
      const { from, results, most } = command;
      if (action.handled !== from || action.begun !== from + results.length) return [];
      return withNext(action, [{ type: 'BulkRunsHandled', data: { results } }], most);
    }
    case 'GoOn':
      return withNext(action, [], command.most);
    default:
      return command satisfies never;
  }
}

/** The same key with the same wish is the same action, whoever carries it out by now. */
function start(action: BulkAction, wish: BulkWish): Decided[] {
  if (action.situation === 'absent') return [{ type: 'BulkActionStarted', data: wish }];
  if (saysTheSame(action.wish, wish)) return [];
  throw new Problem(
    'idempotency_key_reused',
    'The key belongs to another bulk action; use a new one, or ask for the same again.',
  );
}

function saysTheSame(one: BulkWish, other: BulkWish): boolean {
  const names = [...new Set([...Object.keys(one.filter), ...Object.keys(other.filter)])];
  return one.action === other.action && names.every((name) => one.filter[name] === other.filter[name]);
}

function abort(action: Exclude<BulkAction, { situation: 'absent' }>): Decided[] {
  if (action.situation === 'ended') {
    if (action.how === 'aborted') return [];
    throw new Problem('conflict', 'The bulk action has completed; nothing is left to abort.', {
      state: 'completed',
    });
  }
  if (action.abort) return [];
  return withNext(action, [{ type: 'BulkAbortRequested', data: {} }], 0);
}

/** With what follows on the state that the events lead to. */
function withNext(action: OpenBulkAction, events: Decided[], most: number): Decided[] {
  const after = events.reduce<BulkAction>(
    (state, event) => evolveBulkAction(state, { ...event, time: action.startedAt, actor: 'system:decider' }),
    action,
  );
  return after.situation === 'open' ? [...events, ...next(after, most)] : events;
}

/** Runs under way are finished first, whatever was asked meanwhile: facts are recorded, never dropped. */
function next({ chosen, begun, handled, runIds, abort: aborted }: OpenBulkAction, most: number): Decided[] {
  if (begun > handled) return [];
  const left = runIds.length - handled;
  if (chosen && left === 0) return [{ type: 'BulkActionCompleted', data: {} }];
  if (aborted) return [{ type: 'BulkActionAborted', data: { untouched: left } }];
  const count = chosen ? Math.min(most, left) : 0;
  return count > 0 ? [{ type: 'BulkRunsBegun', data: { count } }] : [];
}

import type { BulkActionStarted, BulkEvent, BulkOutcome } from '@runyard/contracts';

/** What somebody asked for, and in whose name it is carried out. */
export type BulkWish = BulkActionStarted['data'];

/** How far a bulk action has come. Places count its runs from 0, in the order in which they were chosen. */
interface Progress {
  wish: BulkWish;
  /** Actor who asked. */
  askedBy: string;
  /** Epoch milliseconds. */
  startedAt: number;
  runIds: readonly string[];
  /** Whether all runs that the filter found are among them. */
  chosen: boolean;
  /** Runs before this place have been begun. */
  begun: number;
  /** Runs before this place have their result. */
  handled: number;
  outcomes: Readonly<Record<BulkOutcome, number>>;
  abort: { by: string; at: number } | null;
}

export type OpenBulkAction = Progress & { situation: 'open' };
export type EndedBulkAction = Progress & {
  situation: 'ended';
  how: 'aborted' | 'completed';
  endedAt: number;
};
export type BulkAction = { situation: 'absent' } | OpenBulkAction | EndedBulkAction;

export const NO_BULK_ACTION: BulkAction = { situation: 'absent' };

/** Runs that were begun and have no result: whether they were told is not known after a crash. */
export const underWay = ({ runIds, begun, handled }: OpenBulkAction): readonly string[] =>
  runIds.slice(handled, begun);

export function evolveBulkAction(action: BulkAction, event: BulkEvent): BulkAction {
  if (event.type === 'BulkActionStarted')
    return {
      situation: 'open',
      wish: event.data,
      askedBy: event.actor,
      startedAt: event.time,
      runIds: [],
      chosen: false,
      begun: 0,
      handled: 0,
      outcomes: { done: 0, requested: 0, refused: 0 },
      abort: null,
    };
  return action.situation === 'open' ? moved(action, event) : action;
}

function moved(action: OpenBulkAction, event: Exclude<BulkEvent, BulkActionStarted>): BulkAction {
  switch (event.type) {
    case 'BulkRunsChosen':
      return {
        ...action,
        runIds: [...action.runIds, ...event.data.runIds],
        chosen: event.data.complete,
      };
    case 'BulkRunsBegun':
      return { ...action, begun: action.begun + event.data.count };
    case 'BulkRunsHandled':
      return {
        ...action,
        handled: action.handled + event.data.results.length,
        outcomes: counted(action.outcomes, event.data.results),
      };
    case 'BulkAbortRequested':
      return { ...action, abort: { by: event.actor, at: event.time } };
    case 'BulkActionAborted':
      return { ...action, situation: 'ended', how: 'aborted', endedAt: event.time };
    case 'BulkActionCompleted':
      return { ...action, situation: 'ended', how: 'completed', endedAt: event.time };
    default:
      return event satisfies never;
  }
}

function counted(
  outcomes: Progress['outcomes'],
  results: readonly { outcome: BulkOutcome }[],
): Progress['outcomes'] {
  const counts = { ...outcomes };
  for (const { outcome } of results) counts[outcome] += 1;
  return counts;
}

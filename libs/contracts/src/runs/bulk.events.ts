import type { DomainEvent } from '../envelope';
import type { Role } from '../people/people.events';
import type { BulkKind, BulkOutcome } from './bulk.requests';

// Context `bulk`, on the stream of the runs: one aggregate a bulk action. Runs are chosen first; then some at a time are
// begun, carried out, and recorded, in the order in which they were chosen. Ids and codes, never content.

/** Somebody asked for the same thing to be done to every run that a filter finds. */
export type BulkActionStarted = DomainEvent<
  'BulkActionStarted',
  {
    action: BulkKind;
    /** As it was asked, in the words of the list of runs. */
    filter: Readonly<Record<string, string>>;
    /** In whose name, and with which roles, each run is told: those of the moment of asking. */
    userId: string | null;
    roles: Role[];
  }
>;
/** A part of the runs that the filter found; with `complete` there are no more. */
export type BulkRunsChosen = DomainEvent<'BulkRunsChosen', { runIds: string[]; complete: boolean }>;
/** The next runs are about to be told, this many. From here on some of them may have been. */
export type BulkRunsBegun = DomainEvent<'BulkRunsBegun', { count: number }>;

/** What became of one run. */
export interface BulkResult {
  runId: string;
  outcome: BulkOutcome;
  /** State of the run afterwards; null where it could not be told. */
  state: string | null;
  /** Why it was refused. */
  code: string | null;
  detail: string | null;
  /** The new run that tries it again. */
  newRunId: string | null;
}
/** Results of the runs that were begun last, in their order. */
export type BulkRunsHandled = DomainEvent<'BulkRunsHandled', { results: BulkResult[] }>;
/** No further run is begun; those that were are finished. */
export type BulkAbortRequested = DomainEvent<'BulkAbortRequested', Record<string, never>>;
/** It ended before its time; so many runs were not told anything. */
export type BulkActionAborted = DomainEvent<'BulkActionAborted', { untouched: number }>;
/** Every run that was chosen has a result. */
export type BulkActionCompleted = DomainEvent<'BulkActionCompleted', Record<string, never>>;

export type BulkEvent =
  | BulkActionStarted
  | BulkRunsChosen
  | BulkRunsBegun
  | BulkRunsHandled
  | BulkAbortRequested
  | BulkActionAborted
  | BulkActionCompleted;

export const BULK_EVENTS: Readonly<Record<BulkEvent['type'], true>> = {
  BulkActionStarted: true,
  BulkRunsChosen: true,
  BulkRunsBegun: true,
  BulkRunsHandled: true,
  BulkAbortRequested: true,
  BulkActionAborted: true,
  BulkActionCompleted: true,
};

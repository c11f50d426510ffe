import { isoTime } from '@runyard/contracts';
import type { BulkActionStarted, BulkEvent, BulkOutcome, BulkState } from '@runyard/contracts';

/** A row of `bulk_actions`. Times are RFC 3339. */
export interface BulkRow {
  bulk_action_id: string;
  org_id: string;
  action: string;
  filter: object;
  state: BulkState;
  requested_by: string;
  user_id: string | null;
  runs: number;
  chosen: boolean;
  handled: number;
  done: number;
  requested: number;
  refused: number;
  created_at: string;
  abort_requested_at: string | null;
  abort_requested_by: string | null;
  ended_at: string | null;
  sequence: number;
  position: string;
}

/** A row of `bulk_action_runs`. */
export interface BulkRun {
  bulk_action_id: string;
  org_id: string;
  place: number;
  run_id: string;
  outcome: BulkOutcome | null;
  state: string | null;
  code: string | null;
  detail: string | null;
  new_run_id: string | null;
}

export const started = (
  id: string,
  org: string,
  { data, time, actor }: BulkActionStarted,
): Omit<BulkRow, 'sequence' | 'position'> => ({
  bulk_action_id: id,
  org_id: org,
  action: data.action,
  filter: data.filter,
  state: 'running',
  requested_by: actor,
  user_id: data.userId,
  runs: 0,
  chosen: false,
  handled: 0,
  done: 0,
  requested: 0,
  refused: 0,
  created_at: isoTime(time),
  abort_requested_at: null,
  abort_requested_by: null,
  ended_at: null,
});

interface Change {
  row: Partial<BulkRow>;
  runs: BulkRun[];
}

const only = (row: Partial<BulkRow>): Change => ({ row, runs: [] });

/** What an event makes of a bulk action and its runs. */
export function changed(before: BulkRow, event: Exclude<BulkEvent, BulkActionStarted>): Change {
  switch (event.type) {
    case 'BulkRunsChosen':
      return chosen(before, event.data);
    case 'BulkRunsBegun':
      return only({});
    case 'BulkRunsHandled':
      return handled(before, event.data.results);
    case 'BulkAbortRequested':
      return only({
        state: 'aborting',
        abort_requested_at: isoTime(event.time),
        abort_requested_by: event.actor,
      });
    case 'BulkActionAborted':
      return only({ state: 'aborted', ended_at: isoTime(event.time) });
    case 'BulkActionCompleted':
      return only({ state: 'completed', ended_at: isoTime(event.time) });
    default:
      return event satisfies never;
  }
}

type Data<Type extends BulkEvent['type']> = Extract<BulkEvent, { type: Type }>['data'];

function chosen(before: BulkRow, { runIds, complete }: Data<'BulkRunsChosen'>): Change {
  const { bulk_action_id, org_id } = before;
  const nothing = { outcome: null, state: null, code: null, detail: null, new_run_id: null };
  const runs = runIds.map((run_id, index) => ({
    bulk_action_id,
    org_id,
    place: before.runs + index,
    run_id,
    ...nothing,
  }));
  return { row: { runs: before.runs + runs.length, chosen: complete }, runs };
}

function handled(before: BulkRow, results: Data<'BulkRunsHandled'>['results']): Change {
  const { bulk_action_id, org_id } = before;
  const counts = { done: before.done, requested: before.requested, refused: before.refused };
  const runs = results.map(({ runId, outcome, state, code, detail, newRunId }, index) => {
    counts[outcome] += 1;
    const place = before.handled + index;
    return {
      bulk_action_id,
      org_id,
      place,
      run_id: runId,
      outcome,
      state,
      code,
      detail,
      new_run_id: newRunId,
    };
  });
  return { row: { ...counts, handled: before.handled + runs.length }, runs };
}

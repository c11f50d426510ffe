import type { BulkAction, BulkResult } from '@runyard/client';
import { table } from './terminal';

/** One line a bulk action. */
export const actionLine = ({
  bulk_action_id: id,
  created_at: at,
  requested_by: who,
  ...action
}: BulkAction): string => `${id}  ${at}  ${action.action}  ${countsOf(action)}  by ${who}`;

/** What it came to. */
export const summaryOf = (action: BulkAction): string => `${action.bulk_action_id} ${countsOf(action)}`;

const countsOf = ({
  state,
  runs,
  handled,
  outcomes,
}: Pick<BulkAction, 'state' | 'runs' | 'handled' | 'outcomes'>) =>
  `${state}: ${handled} of ${runs}, ${outcomes.done} done, ${outcomes.requested} requested, ${outcomes.refused} refused`;

/** A line a run; nothing where there are none. */
export const resultTable = (results: readonly BulkResult[]): string[] =>
  results.length === 0
    ? []
    : table(
        ['run', 'outcome', 'state', 'what'],
        results.map(({ run_id: runId, outcome, state, code, detail, new_run_id: newRun }) => [
          runId,
          outcome ?? 'untouched',
          state,
          newRun ?? (code === null ? '' : `${code}: ${detail ?? ''}`),
        ]),
      );

import type { ErrorInfo } from '@runyard/contracts';
import { repeatable } from './effects';
import type { LiveRun } from './run';

/** Equal invalid calls in a row that end the run: the model will not find its way out. */
export const EQUAL_INVALID_CALLS = 3;

/** What a run fails of as soon as nothing is under way any more. */
export function ruined(run: LiveRun): ErrorInfo | null {
  if (run.exhaustedTool) return run.exhaustedTool;
  if (run.repeated.times < EQUAL_INVALID_CALLS) return null;
  const [code] = run.repeated.key.split(' ', 1);
  return {
    code: code === 'truncated_arguments' ? 'repeated_cut_off' : 'repeated_invalid_call',
    text: `The model made the same ${code === 'truncated_arguments' ? 'cut-off' : 'invalid'} call ${run.repeated.times} times in a row.`,
  };
}

/** Whether the run will fail whatever its children answer: they are cancelled then, and it ends when they have ended (P6.5). */
export function doomed(run: LiveRun): boolean {
  if (ruined(run) || run.expiredQuestion) return true;
  if (run.phase.name !== 'calling_tools' || run.approvalPolicy === 'park') return false;
  return run.phase.calls.some((call) => call.status === 'ambiguous' && !repeatable(call));
}

import { isLive, usedMilliseconds } from './run';
import type { Run } from './run';

/** Timers of Node overflow at 2^31 ms; what is due later is looked at again then. */
const LONGEST_MS = 2 ** 31 - 1;

/** Milliseconds until something becomes due that was not yet at `decidedAt`: the deadline or another attempt; null: nothing does. */
export function dueIn(run: Run, now: number, decidedAt: number): number | null {
  if (!isLive(run)) return null;
  let next = Infinity;
  const consider = (time: number): void => {
    if (time > decidedAt && time < next) next = time;
  };
  consider(now + run.bounds.deadlineSeconds * 1_000 - usedMilliseconds(run, now));
  if (run.phase.name === 'backing_off') consider(run.phase.until);
  if (run.phase.name === 'calling_tools')
    for (const call of run.phase.calls) if (call.status === 'backing_off') consider(call.retryAt);
  return next === Infinity ? null : Math.min(Math.max(1, next - now), LONGEST_MS);
}

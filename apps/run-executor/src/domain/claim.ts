import type { RunRecovered, WakingBudget } from '@runyard/contracts';
import type { NewRunEvent } from './decision';
import type { LiveRun } from './run';

/** Code of a model call whose driver was lost: it says nothing about the provider. */
export const EXECUTOR_LOST = 'executor_lost';

export type Evidence = RunRecovered['data']['evidence'];

/**
 * The claim of a run by an instance: the fence that every later append of an earlier driver runs into (P3.1). What the
 * earlier driver had under way is settled first: a model call without result is booked at its worst case (P3.7), a
 * tool call without result is ambiguous (P4). `budget`: what the week leaves a run that had waited for people.
 */
export function claim(
  run: LiveRun,
  instance: string,
  evidence: Evidence,
  budget?: WakingBudget,
): NewRunEvent[] {
  const claimed = { epoch: run.epoch + 1, instance, ...(budget ? { budget } : {}) };
  if (run.epoch === 0) return [{ type: 'RunStarted', data: claimed }];
  return [{ type: 'RunRecovered', data: { ...claimed, evidence } }, ...lostEffects(run)];
}

/**
 * Whether what the run may spend has to be asked for before it goes on (P5.6). A child spends what its root has, and what
 * is about to end needs nothing.
 */
export const needsBudget = (run: LiveRun): boolean =>
  run.parkedForPeople &&
  run.identity.parentRunId === null &&
  run.cancelRequested === null &&
  run.expiredQuestion === null;

/** Settles what was under way when its driver was lost. */
export function lostEffects(run: LiveRun): NewRunEvent[] {
  const { phase } = run;
  if (phase.name === 'calling_model')
    return [
      {
        type: 'ModelCallFailed',
        data: {
          step: phase.step,
          attempt: phase.attempt,
          modelId: phase.modelId,
          error: { code: EXECUTOR_LOST, text: 'The executor was lost during the call.', status: null },
          partialText: null,
          usage: { input: phase.worstCaseInput, output: phase.maxOutputTokens, cached: 0, estimated: true },
          next: 'retry',
          retryInMs: 0,
        },
      },
    ];
  if (phase.name !== 'calling_tools') return [];
  return (
    phase.calls
      // A child is not lost with its parent's driver: its own log says what becomes of it.
      .filter((call) => call.status === 'in_flight' && call.child === null)
      .map((call) => ({
        type: 'ToolCallAmbiguous',
        data: {
          step: phase.step,
          callId: call.callId,
          tool: call.tool,
          cause: 'crash',
          text: 'The executor was lost during the call.',
        },
      }))
  );
}

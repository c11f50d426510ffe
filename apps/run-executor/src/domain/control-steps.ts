import type { RunEvent, RunExtended } from '@runyard/contracts';
import { awake } from './approval-steps';
import { usedMilliseconds } from './run';
import type { LiveRun } from './run';

type ControlEvent = Extract<
  RunEvent,
  {
    type:
      | 'RunCancelRequested'
      | 'RunPauseRequested'
      | 'RunPaused'
      | 'RunResumed'
      | 'RunExtended'
      | 'RunModeSet';
  }
>;

/** Folds a control. */
export function controlled(run: LiveRun, event: ControlEvent): LiveRun {
  switch (event.type) {
    case 'RunCancelRequested':
      return {
        ...run,
        cancelRequested: run.cancelRequested ?? { reason: event.data.reason, at: event.time },
      };
    case 'RunPauseRequested':
      return { ...run, pauseRequested: true };
    case 'RunPaused':
      return parked(run, event.data.expiresAt, event.time);
    case 'RunResumed':
      return run.situation === 'paused'
        ? { ...run, situation: 'running', woken: true, pauseExpiresAt: null }
        : { ...run, pauseRequested: false };
    case 'RunExtended':
      return extended(run, event);
    case 'RunModeSet':
      // What is open under one mode may be settled under another: whoever drives the run looks again.
      return awake({ ...run, mode: event.data.mode });
    default:
      return event satisfies never;
  }
}

function parked(run: LiveRun, expiresAt: number, time: number): LiveRun {
  return {
    ...run,
    situation: 'paused',
    parkedForPeople: true,
    pauseRequested: false,
    pauseExpiresAt: expiresAt,
    usedMilliseconds: usedMilliseconds(run, time),
    runningSince: null,
  };
}

function extended(run: LiveRun, { data }: RunExtended): LiveRun {
  const { bounds } = run;
  return {
    ...run,
    extensions: data.key === undefined ? run.extensions : [...run.extensions, data.key],
    grantTokens: run.grantTokens + data.tokens,
    bounds: {
      ...bounds,
      maxSteps: bounds.maxSteps + data.steps,
      maxToolCalls: bounds.maxToolCalls + data.toolCalls,
      tokenBudget: bounds.tokenBudget + data.tokens,
      deadlineSeconds: bounds.deadlineSeconds + data.seconds,
    },
  };
}

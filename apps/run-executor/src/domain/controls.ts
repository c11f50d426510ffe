import type { CancelReason, Mode } from '@runyard/contracts';
import { BOUND_CEILINGS, Problem } from '@runyard/contracts';
import { openChildren } from './children';
import { lostEffects } from './claim';
import { end } from './next';
import type { NewRunEvent } from './decision';
import { isLive, stateOf } from './run';
import type { EndedRun, LiveRun, Run } from './run';

export type Control =
  | { type: 'CancelRun'; reason: CancelReason }
  | { type: 'PauseRun'; expiresAt: number }
  | { type: 'ResumeRun' }
  /** `key`: the caller's idempotency key; the same one adds once. */
  | { type: 'ExtendRun'; steps: number; toolCalls: number; tokens: number; seconds: number; key?: string }
  | { type: 'SetMode'; mode: Mode }
  | { type: 'DeleteRun' };

/**
 * Decides a control. Saying it twice is harmless (no events); where it makes no sense it is refused with the reason.
 * A running run is only asked (its driver ends or parks it); queued and parked runs are ended here (P5.1).
 */
export function decideControl(run: Run, control: Control): NewRunEvent[] {
  if (run.situation === 'none' || (run.situation === 'ended' && run.deleted))
    throw new Problem('not_found', 'There is no such run.');
  if (control.type === 'DeleteRun') return remove(run);
  if (!isLive(run)) {
    if (control.type === 'CancelRun' && run.state === 'cancelled') return [];
    throw endedRefusal(run);
  }
  switch (control.type) {
    case 'CancelRun':
      return cancel(run, control.reason);
    case 'PauseRun':
      return pause(run, control.expiresAt);
    case 'ResumeRun':
      return resume(run);
    case 'ExtendRun':
      return extend(run, control);
    case 'SetMode':
      return run.mode === control.mode ? [] : [{ type: 'RunModeSet', data: { mode: control.mode } }];
    default:
      return control satisfies never;
  }
}

/** Terminal is final: what is said of it, whatever was asked. */
export const endedRefusal = (run: EndedRun): Problem =>
  refusal(
    run,
    `The run has ended (${run.state}${run.reason ? `, ${run.reason}` : ''}); nothing is left to control.`,
  );

const refusal = (run: Run, message: string): Problem =>
  new Problem('run_not_controllable', message, { state: stateOf(run) });

/**
 * Whether a driver may be at work, which then ends or parks the run itself; or children are, and then whoever settles the
 * last of them does (P6.5).
 */
const driven = (run: LiveRun): boolean =>
  (run.situation === 'running' && !run.woken) || openChildren(run).length > 0;

function cancel(run: LiveRun, reason: CancelReason): NewRunEvent[] {
  const requested: NewRunEvent[] = run.cancelRequested
    ? []
    : [{ type: 'RunCancelRequested', data: { reason } }];
  if (driven(run)) return requested;
  return [
    ...requested,
    ...end(run, { type: 'RunCancelled', data: { reason: run.cancelRequested?.reason ?? reason } }),
  ];
}

function pause(run: LiveRun, expiresAt: number): NewRunEvent[] {
  if (run.cancelRequested) throw refusal(run, 'The run is being cancelled.');
  if (run.situation === 'paused' || run.pauseRequested) return [];
  const requested: NewRunEvent = { type: 'RunPauseRequested', data: {} };
  return driven(run) ? [requested] : [requested, { type: 'RunPaused', data: { expiresAt } }];
}

function resume(run: LiveRun): NewRunEvent[] {
  if (run.situation === 'paused' || run.pauseRequested) return [{ type: 'RunResumed', data: {} }];
  if (run.situation === 'awaiting_approval')
    throw refusal(run, 'The run waits for decisions, not to be resumed; resolve what it asks.');
  return [];
}

/** Never beyond the platform's ceilings (domain, section 2). */
function extend(run: LiveRun, by: Extract<Control, { type: 'ExtendRun' }>): NewRunEvent[] {
  if (run.cancelRequested) throw refusal(run, 'The run is being cancelled.');
  if (by.key !== undefined && run.extensions.includes(by.key)) return [];
  if (by.tokens > 0 && run.identity.parentRunId !== null)
    throw refusal(run, "A delegated run spends out of its parent's grant; extend the run at the root.");
  const room = (wanted: number, now: number, ceiling: number): number =>
    Math.max(0, Math.min(wanted, ceiling - now));
  const data = {
    steps: room(by.steps, run.bounds.maxSteps, BOUND_CEILINGS.maxSteps),
    toolCalls: room(by.toolCalls, run.bounds.maxToolCalls, BOUND_CEILINGS.maxToolCalls),
    tokens: room(by.tokens, run.grantTokens, BOUND_CEILINGS.tokenBudget),
    seconds: room(by.seconds, run.bounds.deadlineSeconds, BOUND_CEILINGS.deadlineSeconds),
  };
  if (Object.values(data).every((raised) => raised === 0)) return [];
  return [{ type: 'RunExtended', data: { ...data, ...(by.key === undefined ? {} : { key: by.key }) } }];
}

function remove(run: LiveRun | Extract<Run, { situation: 'ended' }>): NewRunEvent[] {
  if (isLive(run)) throw refusal(run, 'The run has not ended; cancel it first.');
  return [{ type: 'RunDeleted', data: { agentId: run.identity?.agentId ?? '' } }];
}

/** Closes a run whose driver did not obey a cancel in time: what was under way stays ambiguous (P5.1). Not before its children have ended. */
export function forceCancel(run: LiveRun): NewRunEvent[] {
  if (!run.cancelRequested) return [];
  const { reason } = run.cancelRequested;
  return end(run, { type: 'RunCancelled', data: { reason } }, lostEffects(run));
}

/** Ends a pause that outlived its time to live; nothing before that time. */
export function expirePause(run: LiveRun, now: number): NewRunEvent[] {
  if (run.situation !== 'paused' || run.pauseExpiresAt === null || run.pauseExpiresAt > now) return [];
  return end(run, {
    type: 'RunFailed',
    data: {
      termination: 'Deadline',
      reason: 'pause_expired',
      error: { code: 'pause_expired', text: 'Nobody resumed the run in time.' },
    },
  });
}

/** Closes a run whose definition was erased: nobody can go on, and its agent must not stay occupied. */
export function withoutDefinition(run: LiveRun): NewRunEvent[] {
  const error = {
    code: 'definition_missing',
    text: 'The definition of the run is gone; it cannot be continued.',
  };
  return end(
    run,
    { type: 'RunFailed', data: { termination: 'Error', reason: 'stale', error } },
    lostEffects(run),
  );
}

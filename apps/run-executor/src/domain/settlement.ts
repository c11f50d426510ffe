import type { ErrorInfo, RunEvent, StoredText } from '@runyard/contracts';
import { openChildren } from './children';
import type { DelegatedCall } from './children';
import type { NewRunEvent } from './decision';
import { end, foldNew } from './next';
import { isLive } from './run';
import type { LiveRun, Run } from './run';

/** How a child ended, as its own log says. */
export interface ChildEnd {
  event: Extract<RunEvent, { type: 'RunSucceeded' | 'RunFailed' | 'RunCancelled' | 'RunSkipped' }>;
  /** Stream sequence of the commit that holds the end. */
  sequence: number;
}

/**
 * Settles a child in its parent: what it spent, then the observation that its call comes to. Nothing where the parent has
 * ended or has settled it before. A parent that nobody drives is ended or parked in the same commit where that was asked
 * for meanwhile; otherwise the last settlement wakes it.
 */
export function settleChild(
  run: Run,
  childRunId: string,
  how: ChildEnd,
  at: { now: number; pauseTtlMs: number },
): NewRunEvent[] {
  if (!isLive(run) || run.phase.name !== 'calling_tools') return [];
  const call = openChildren(run).find(({ child }) => child.runId === childRunId);
  if (!call) return [];
  const events = [settledBy(run.phase.step, call, how), observed(run, run.phase.step, call, how)];
  return [...events, ...followed(run, events, at)];
}

const tokensOf = ({ event }: ChildEnd): number => {
  const spend = 'spend' in event.data ? event.data.spend : undefined;
  return spend ? spend.own + spend.children : 0;
};

function settledBy(step: number, { callId, child }: DelegatedCall, how: ChildEnd): NewRunEvent {
  const { event, sequence } = how;
  const common = { step, callId, childRunId: child.runId, agentId: child.agentId };
  return {
    type: 'ChildSettled',
    data: { ...common, ...outcomeOf(event), tokens: tokensOf(how), sequence },
  };
}

type Outcome = Pick<
  Extract<NewRunEvent, { type: 'ChildSettled' }>['data'],
  'state' | 'termination' | 'reason'
>;

function outcomeOf(event: ChildEnd['event']): Outcome {
  switch (event.type) {
    case 'RunSucceeded':
      return { state: 'succeeded', termination: 'Completed', reason: null };
    case 'RunFailed':
      return { state: 'failed', termination: event.data.termination, reason: event.data.reason };
    case 'RunCancelled':
      return { state: 'cancelled', termination: 'Cancelled', reason: event.data.reason };
    case 'RunSkipped':
      return { state: 'skipped', termination: null, reason: event.data.reason };
    default:
      return event satisfies never;
  }
}

function observed(run: LiveRun, step: number, call: DelegatedCall, { event }: ChildEnd): NewRunEvent {
  const common = { step, callId: call.callId, tool: call.tool };
  if (event.type === 'RunSucceeded')
    return {
      type: 'ToolCallSucceeded',
      data: { ...common, observation: event.data.output, startedAt: run.lastEventAt },
    };
  const error = errorOf(call, event);
  const observation: StoredText = { text: `Error: ${error.text}` };
  if (event.type === 'RunCancelled' && event.data.reason === 'parent')
    return { type: 'ToolCallCancelled', data: { ...common, observation, startedAt: null } };
  return {
    type: 'ToolCallFailed',
    data: {
      ...common,
      error,
      observation,
      startedAt: run.lastEventAt,
      attempt: call.attempt,
      willRetry: false,
      retryInMs: 0,
    },
  };
}

/** Says termination and reason, so that the model can do something about it. */
function errorOf(
  { child }: DelegatedCall,
  event: Exclude<ChildEnd['event'], { type: 'RunSucceeded' }>,
): ErrorInfo {
  const { state, termination, reason } = outcomeOf(event);
  const why = event.type === 'RunFailed' ? ` ${event.data.error.text}` : '';
  const named = [termination, reason].filter((word) => word !== null).join(' / ');
  return {
    code: `child_${state}`,
    text: `The subagent ${child.agentId} (${child.runId}) gave no answer: it ended ${state} (${named}).${why}`,
  };
}

/** What was asked of a run that nobody drives happens as soon as its last child is settled. */
function followed(
  run: LiveRun,
  events: readonly NewRunEvent[],
  { now, pauseTtlMs }: { now: number; pauseTtlMs: number },
): NewRunEvent[] {
  const after = foldNew(run, events, now);
  if (!isLive(after) || openChildren(after).length > 0 || run.situation === 'running') return [];
  if (after.cancelRequested)
    return end(after, { type: 'RunCancelled', data: { reason: after.cancelRequested.reason } });
  return after.pauseRequested ? [{ type: 'RunPaused', data: { expiresAt: now + pauseTtlMs } }] : [];
}

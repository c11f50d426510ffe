import type { Bounds, ChildEvent, Mode } from '@runyard/contracts';
import type { CallState, LiveRun } from './run';
import { usedMilliseconds } from './run';

/** The run that a call of an agent tool is. */
export interface ChildState {
  runId: string;
  agentId: string;
  attempt: number;
  grantTokens: number;
  bounds: Bounds;
  mode: Mode;
  /** Its request lies on the work queue. */
  requested: boolean;
}

/** A call whose child has not been settled. */
export type DelegatedCall = CallState & { child: ChildState };

/** Calls that are children, as long as nobody has settled them. A run ends only without any (P6.5). */
export const openChildren = ({ phase }: LiveRun): DelegatedCall[] =>
  phase.name === 'calling_tools'
    ? phase.calls.filter((call): call is DelegatedCall => call.child !== null && call.status !== 'settled')
    : [];

/** Tokens that are neither spent nor given away. */
export const freeTokens = (run: LiveRun): number =>
  run.grantTokens -
  run.usedTokens -
  run.childTokens -
  openChildren(run).reduce((sum, { child }) => sum + child.grantTokens, 0);

/** Folds an event of delegation. */
export function childStep(run: LiveRun, event: ChildEvent & { time: number }): LiveRun {
  switch (event.type) {
    case 'ChildGranted': {
      const { childRunId: runId, agentId, attempt, grantTokens, bounds, mode } = event.data;
      const child = { runId, agentId, attempt, grantTokens, bounds, mode, requested: false };
      return withCall(run, event.data.callId, (call) => ({ ...call, child }));
    }
    case 'ChildRequested':
      return withCall(run, event.data.callId, (call) =>
        call.child ? { ...call, child: { ...call.child, requested: true } } : call,
      );
    case 'RunAwaitingChildren':
      return {
        ...run,
        situation: 'waiting',
        usedMilliseconds: usedMilliseconds(run, event.time),
        runningSince: null,
      };
    case 'ChildSettled':
      return settled(run, event.data.callId, event.data.tokens);
    default:
      return event satisfies never;
  }
}

/** What the child spent is spent; the rest is free again. The last one to settle wakes a run that waits for nothing else. */
function settled(run: LiveRun, callId: string, tokens: number): LiveRun {
  const known = openChildren(run).some((call) => call.callId === callId);
  if (!known) return run;
  const after = withCall(run, callId, (call) => ({ ...call, child: null }));
  const wakes = run.situation === 'waiting' && openChildren(after).length === 0;
  return {
    ...after,
    childTokens: run.childTokens + tokens,
    ...(wakes ? { situation: 'running' as const, woken: true } : {}),
  };
}

function withCall(run: LiveRun, callId: string, change: (call: CallState) => CallState): LiveRun {
  if (run.phase.name !== 'calling_tools') return run;
  const calls = run.phase.calls.map((call) => (call.callId === callId ? change(call) : call));
  return { ...run, phase: { ...run.phase, calls } };
}

/** Whether nothing is under way but children, all of them asked for. */
export function onlyChildren(run: LiveRun): boolean {
  if (run.phase.name !== 'calling_tools' || openChildren(run).length === 0) return false;
  return run.phase.calls.every((call) =>
    call.child === null ? call.status !== 'in_flight' && call.status !== 'backing_off' : call.child.requested,
  );
}

/** Whether nothing is left to do but to wait for children, or for people besides: then nobody needs to drive the run (P5.3). */
export const waitsForChildren = (run: LiveRun): boolean =>
  onlyChildren(run) &&
  run.phase.name === 'calling_tools' &&
  run.phase.calls.every(({ child, status }) => child !== null || IDLE.has(status));

/** Calls beyond what may be under way at once stay undecided meanwhile. */
const IDLE: ReadonlySet<CallState['status']> = new Set(['settled', 'undecided', 'awaiting']);

/** The stricter of two modes: a child is never allowed what its parent is not. */
export const stricter = (one: Mode, other: Mode): Mode => {
  const order: readonly Mode[] = ['plan', 'ask', 'auto'];
  return order.indexOf(one) < order.indexOf(other) ? one : other;
};

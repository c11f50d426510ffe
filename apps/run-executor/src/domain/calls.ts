import type { RunEvent } from '@runyard/contracts';
import { approvedCall, askedCall } from './approval-steps';
import { shownText } from './material';
import type { Material } from './material';
import type { CallState, LiveRun } from './run';
import { append } from './transcript';

export type CallEvent = Extract<
  RunEvent,
  {
    type:
      | 'ToolCallStarted'
      | 'ToolCallSucceeded'
      | 'ToolCallFailed'
      | 'ToolCallDenied'
      | 'ToolCallCancelled'
      | 'ToolCallAmbiguous'
      | 'ApprovalRequested'
      | 'CallApproved';
  }
>;

export const isCallEvent = (event: RunEvent): event is CallEvent =>
  event.type.startsWith('ToolCall') || event.type === 'ApprovalRequested' || event.type === 'CallApproved';

/** Our own id of a call: unique in the run whatever the provider sends. */
export const callIdOf = (step: number, index: number): string => `c${step}-${index}`;

export function startTurn(
  run: LiveRun,
  step: number,
  calls: readonly { callId: string; tool: string; arguments: string }[],
  cutOff: boolean,
): LiveRun {
  const states = calls.map(({ callId, tool, arguments: raw }): CallState => ({
    callId,
    tool,
    arguments: raw,
    status: 'undecided',
    attempt: 0,
    failures: 0,
    retryAt: 0,
    started: null,
    question: null,
    grant: null,
    questions: 0,
    child: null,
    outcome: null,
    observation: null,
  }));
  return { ...run, phase: { name: 'calling_tools', step, calls: states, cutOff } };
}

export function updateCall(run: LiveRun, event: CallEvent, material: Material): LiveRun {
  if (run.phase.name !== 'calling_tools') return run;
  const { callId } = event.data;
  const before = run.phase.calls.find((call) => call.callId === callId);
  if (!before || before.status === 'settled') return run;
  const after = applyTo(before, event, material);
  if (after === before) return run;
  const calls = run.phase.calls.map((call) => (call === before ? after : call));
  return {
    ...run,
    phase: { ...run.phase, calls },
    // A call counts once, when it is first dispatched or settled without dispatch.
    toolCalls: run.toolCalls + (before.status === 'undecided' ? 1 : 0),
    recordedWrites: usedUp(run, event),
    repeated: repetition(run, before, event),
    exhaustedTool:
      event.type === 'ToolCallFailed' && event.data.exhausted === true ? event.data.error : run.exhaustedTool,
  };
}

/** A recorded result stands for one call. */
function usedUp({ recordedWrites }: LiveRun, event: CallEvent): LiveRun['recordedWrites'] {
  const used = event.type === 'ToolCallSucceeded' ? event.data.reusedFrom?.callId : undefined;
  return used === undefined ? recordedWrites : recordedWrites.filter(({ callId }) => callId !== used);
}

function applyTo(call: CallState, event: CallEvent, material: Material): CallState {
  switch (event.type) {
    case 'ApprovalRequested':
      return askedCall(call, event.data);
    case 'CallApproved':
      return approvedCall(call, event.data, material);
    case 'ToolCallStarted': {
      const { effect, idempotent, idempotencyKey, argumentsDigest, decision, attempt } = event.data;
      const started = { effect, idempotent, idempotencyKey, argumentsDigest, decision };
      return { ...call, status: 'in_flight', attempt, started, question: null };
    }
    case 'ToolCallAmbiguous':
      return { ...call, status: 'ambiguous' };
    case 'ToolCallFailed':
      return event.data.willRetry
        ? {
            ...call,
            status: 'backing_off',
            failures: call.failures + 1,
            retryAt: event.time + event.data.retryInMs,
          }
        : settled(call, 'failed', event);
    case 'ToolCallSucceeded':
      return settled(call, 'succeeded', event);
    case 'ToolCallDenied':
      return settled(call, 'denied', event);
    case 'ToolCallCancelled':
      return settled(call, 'cancelled', event);
    default:
      return event satisfies never;
  }
}

const settled = (
  call: CallState,
  outcome: NonNullable<CallState['outcome']>,
  event: Extract<CallEvent, { data: { observation: unknown } }>,
): CallState => ({
  ...call,
  status: 'settled',
  question: null,
  outcome,
  observation: shownText(event.data.observation),
});

const INVALID = new Set(['invalid_arguments', 'truncated_arguments', 'unknown_tool']);

export const NOTHING_REPEATED: LiveRun['repeated'] = { key: '', times: 0, step: 0 };

function repetition(run: LiveRun, call: CallState, event: CallEvent): LiveRun['repeated'] {
  if (event.type === 'ToolCallFailed' && INVALID.has(event.data.error.code)) {
    const key = `${event.data.error.code} ${call.tool} ${call.arguments}`;
    const { step } = event.data;
    if (run.repeated.key !== key) return { key, times: 1, step };
    // Equal calls of one turn are one mistake: the model has not seen the answer to any of them.
    return run.repeated.step === step ? run.repeated : { key, times: run.repeated.times + 1, step };
  }
  return event.type === 'ToolCallSucceeded' ? NOTHING_REPEATED : run.repeated;
}

/** When every call of the turn is settled, their results join the dialog in call order. */
export function closeTurn(run: LiveRun, callPrefix: string): LiveRun {
  if (run.phase.name !== 'calling_tools' || run.phase.calls.some((call) => call.status !== 'settled'))
    return run;
  return {
    ...withResults(run, run.phase.calls, callPrefix),
    phase: { name: 'ready', after: run.phase.calls },
  };
}

/**
 * A run that ends amid a turn: calls without a result get one that says so, since no provider accepts a dialog in which
 * a call has no result (the next turn of the conversation builds on this one).
 */
export const interruptTurn = (run: LiveRun, callPrefix: string): LiveRun =>
  run.phase.name === 'calling_tools' ? withResults(run, run.phase.calls, callPrefix) : run;

function withResults(run: LiveRun, calls: readonly CallState[], callPrefix: string): LiveRun {
  const results = calls.map((call) => ({
    role: 'tool' as const,
    callId: callPrefix + call.callId,
    tool: call.tool,
    text: call.observation ?? 'Interrupted: the run ended before the outcome of this call was known.',
  }));
  return { ...run, transcript: append(run.transcript, results) };
}

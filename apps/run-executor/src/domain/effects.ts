import type { CallDecision, ErrorInfo, FailureReason, Mode, ToolDefinition } from '@runyard/contracts';
import { capReached, snapshot } from './bounds';
import type { Circumstances, NewRunEvent } from './decision';
import type { CallState, LiveRun, Phase } from './run';

export interface CallsDecision {
  events: NewRunEvent[];
  end?: { reason: FailureReason; error: ErrorInfo };
}

/** Calls of a run that are under way at once; more of the same turn wait. A claim must be able to settle all in one commit. */
export const PARALLEL_CALLS = 64;

type ToolPhase = Extract<Phase, { name: 'calling_tools' }>;

/** The decision before an effect: what mode and tool say. Permission rules join here. */
export function decideEffect(mode: Mode, tool: ToolDefinition): 'allow' | 'deny' | 'ask' {
  if (tool.effect === 'read' || mode === 'auto') return 'allow';
  return mode === 'plan' ? 'deny' : 'ask';
}

const byMode = (mode: Mode): CallDecision => ({ decidedBy: `mode:${mode}`, ruleId: null, groupKey: null });

/** What becomes of the calls of a turn that are not under way: dispatched, refused, denied, repeated, or the end of the run. */
export function decideCalls(run: LiveRun, phase: ToolPhase, at: Circumstances): CallsDecision {
  const undecided = phase.calls.filter((call) => call.status === 'undecided');
  if (undecided.length > 0) return decideNew(run, phase, undecided, at);
  const lost = phase.calls.find((call) => call.status === 'ambiguous' && !repeatable(call));
  if (lost) return { events: [], end: { reason: 'unknown_effect', error: unknownEffect(lost) } };
  const due = phase.calls.filter(
    (call) => call.status === 'ambiguous' || (call.status === 'backing_off' && call.retryAt <= at.now),
  );
  const events = due.flatMap((call) => restart(run, phase.step, call, at));
  return { events: events.length > 0 ? [snapshot(run, at.now), ...events] : [] };
}

/** Repeating is safe only where it changes nothing, or changes nothing twice (P4.1). */
const repeatable = (call: CallState): boolean =>
  call.started?.effect === 'read' || call.started?.idempotent === true;

const unknownEffect = (call: CallState): ErrorInfo => ({
  code: 'unknown_effect',
  text: `Nobody knows whether ${call.tool} (${call.callId}) happened, and repeating it is not safe.`,
});

function decideNew(run: LiveRun, phase: ToolPhase, undecided: CallState[], at: Circumstances): CallsDecision {
  if (run.toolCalls + undecided.length > run.bounds.maxToolCalls)
    return {
      events: [],
      end: {
        reason: 'tool_call_cap',
        error: { code: 'tool_call_cap', text: capReached(run, 'tool_call_cap') },
      },
    };
  const decided = undecided.map((call) => decideOne(run, phase, call, at));
  const asks = decided.find((one) => 'asks' in one);
  if (asks && 'asks' in asks)
    return {
      events: [],
      end: { reason: 'confirmation_required', error: { code: 'confirmation_required', text: asks.asks } },
    };
  const events = decided.slice(0, PARALLEL_CALLS).flatMap((one) => ('event' in one ? [one.event] : []));
  const dispatches = events.some((event) => event.type === 'ToolCallStarted');
  return { events: dispatches ? [snapshot(run, at.now), ...events] : events };
}

function decideOne(
  run: LiveRun,
  phase: ToolPhase,
  call: CallState,
  at: Circumstances,
): { event: NewRunEvent } | { asks: string } {
  const tool = at.tools.get(call.tool);
  if (!tool) return { event: refused(phase.step, call, at, unknownTool(call.tool, at)) };
  const judgement = at.judge(call, phase.cutOff);
  if (!judgement.ok) return { event: refused(phase.step, call, at, judgement) };
  const decision = decideEffect(run.mode, tool);
  if (decision === 'ask')
    return { asks: `${call.tool} writes, and the run's mode is "ask": it needs a person's decision.` };
  if (decision === 'deny') return { event: denied(run.mode, phase.step, call) };
  return {
    event: {
      type: 'ToolCallStarted',
      data: {
        step: phase.step,
        callId: call.callId,
        tool: call.tool,
        effect: tool.effect,
        idempotent: tool.idempotent,
        idempotencyKey: `${at.runId}:${call.callId}`,
        argumentsDigest: judgement.digest,
        attempt: 1,
        decision:
          tool.effect === 'read'
            ? { decidedBy: 'system:reads', ruleId: null, groupKey: null }
            : byMode(run.mode),
      },
    },
  };
}

function restart(run: LiveRun, step: number, call: CallState, at: Circumstances): NewRunEvent[] {
  const { started } = call;
  const tool = at.tools.get(call.tool);
  if (!started || !tool) return [];
  // What was allowed once may have been forbidden since: the mode is asked again at each dispatch (P4.3).
  if (decideEffect(run.mode, tool) === 'deny') return [denied(run.mode, step, call)];
  return [
    {
      type: 'ToolCallStarted',
      data: { step, callId: call.callId, tool: call.tool, attempt: call.attempt + 1, ...started },
    },
  ];
}

function denied(mode: Mode, step: number, call: CallState): NewRunEvent {
  const text = `Denied: ${call.tool} changes something, and the run is in mode "${mode}". Describe the change instead.`;
  return {
    type: 'ToolCallDenied',
    data: { step, callId: call.callId, tool: call.tool, observation: { text }, decision: byMode(mode) },
  };
}

const unknownTool = (name: string, at: Circumstances): ErrorInfo => ({
  code: 'unknown_tool',
  text: `There is no tool "${name}". Tools: ${[...at.tools.keys()].join(', ') || 'none'}.`,
});

function refused(step: number, call: CallState, at: Circumstances, error: ErrorInfo): NewRunEvent {
  return {
    type: 'ToolCallFailed',
    data: {
      step,
      callId: call.callId,
      tool: call.tool,
      error: { code: error.code, text: error.text },
      observation: { text: `Error: ${error.text}` },
      startedAt: at.now,
      attempt: 0,
      willRetry: false,
      retryInMs: 0,
    },
  };
}

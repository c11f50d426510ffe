import type { ErrorInfo, FailureReason } from '@runyard/contracts';
import { capReached, snapshot } from './bounds';
import type { Circumstances, NewRunEvent } from './decision';
import { askAbout, dispatchGranted, ruleAgain } from './grants';
import { denied, refused, startedFirst, unknownTool } from './call-events';
import { rulingByMode, rulingOn } from './rulings';
import type { CallState, LiveRun, Phase } from './run';

export interface CallsDecision {
  events: NewRunEvent[];
  end?: { reason: FailureReason; error: ErrorInfo };
}

/** Calls of a run that are under way at once; more of the same turn wait. A claim must be able to settle all in one commit. */
export const PARALLEL_CALLS = 64;

export type ToolPhase = Extract<Phase, { name: 'calling_tools' }>;

/** What becomes of the calls of a turn that are not under way: dispatched, refused, denied, asked about, repeated, or the end of the run. */
export function decideCalls(run: LiveRun, phase: ToolPhase, at: Circumstances): CallsDecision {
  const undecided = phase.calls.filter((call) => call.status === 'undecided');
  if (undecided.length > 0) return decideNew(run, phase, undecided, at);
  const lost = phase.calls.filter((call) => call.status === 'ambiguous' && !repeatable(call));
  if (lost.length > 0) return decideLost(run, phase, lost, at);
  const events = phase.calls.flatMap((call) => decideOld(run, phase, call, at));
  return { events: withSnapshot(run, events, at) };
}

/** Recorded ahead of every dispatch. */
const withSnapshot = (run: LiveRun, events: NewRunEvent[], at: Circumstances): NewRunEvent[] =>
  events.some((event) => event.type === 'ToolCallStarted') ? [snapshot(run, at.now), ...events] : events;

/** A call that was decided about before: due again, allowed since, or asked about under another mode or other rules. */
function decideOld(run: LiveRun, phase: ToolPhase, call: CallState, at: Circumstances): NewRunEvent[] {
  switch (call.status) {
    case 'ambiguous':
      return restart(run, phase.step, call, at);
    case 'backing_off':
      return call.retryAt <= at.now ? restart(run, phase.step, call, at) : [];
    case 'approved':
      return dispatchGranted(run, phase, call, at);
    case 'awaiting':
      return ruleAgain(run, phase, call, at);
    default:
      return [];
  }
}

/** Repeating is safe only where it changes nothing, or changes nothing twice (P4.1). */
export const repeatable = (call: CallState): boolean =>
  call.started?.effect === 'read' || call.started?.idempotent === true;

/** Calls that nobody knows the outcome of: a person says what became of them, or the run ends. */
function decideLost(run: LiveRun, phase: ToolPhase, lost: CallState[], at: Circumstances): CallsDecision {
  const [first] = lost;
  if (at.approvals && run.approvalPolicy === 'park') {
    const { approvals } = at;
    const by = { ruleId: null, groupKey: null };
    return { events: lost.map((call) => askAbout(phase.step, call, 'ambiguous', by, approvals, at.now)) };
  }
  const text = `Nobody knows whether ${first?.tool} (${first?.callId}) happened, and repeating it is not safe.`;
  return { events: [], end: { reason: 'unknown_effect', error: { code: 'unknown_effect', text } } };
}

function decideNew(run: LiveRun, phase: ToolPhase, undecided: CallState[], at: Circumstances): CallsDecision {
  if (run.toolCalls + undecided.length > run.bounds.maxToolCalls) {
    const error = { code: 'tool_call_cap', text: capReached(run, 'tool_call_cap') };
    return { events: [], end: { reason: 'tool_call_cap', error } };
  }
  const decided = undecided.map((call) => decideOne(run, phase, call, at));
  const asks = decided.flatMap((one) => ('asks' in one ? [one] : []));
  if (asks[0] && (run.approvalPolicy === 'end' || !at.approvals)) {
    const error = { code: 'confirmation_required', text: asks[0].asks };
    // The questions are on record: the run can be continued with a decision.
    return {
      events: asks.flatMap(({ event }) => (event ? [event] : [])),
      end: { reason: 'confirmation_required', error },
    };
  }
  const events = decided.slice(0, PARALLEL_CALLS).flatMap(({ event }) => (event ? [event] : []));
  return { events: withSnapshot(run, events, at) };
}

function decideOne(
  run: LiveRun,
  phase: ToolPhase,
  call: CallState,
  at: Circumstances,
): { event: NewRunEvent } | { asks: string; event: NewRunEvent | null } {
  const tool = at.tools.get(call.tool);
  if (!tool) return { event: refused(phase.step, call, at.now, unknownTool(call.tool, at)) };
  const judgement = at.judge(call, phase.cutOff);
  if (!judgement.ok) return { event: refused(phase.step, call, at.now, judgement) };
  const ruling = rulingOn(run, tool, judgement.value, at);
  if (ruling.decision === 'deny') return { event: denied(run.mode, phase.step, call, ruling) };
  if (ruling.decision === 'allow')
    return { event: startedFirst(run, phase.step, call, tool, judgement.digest, ruling.by, at) };
  const event = at.approvals
    ? askAbout(phase.step, call, 'call', ruling.by, at.approvals, at.now, judgement.digest)
    : null;
  const asks = ruling.why
    ? `${call.tool} needs a person's decision. ${ruling.why}`
    : `${call.tool} writes, and the run's mode is "${run.mode}": it needs a person's decision.`;
  return { asks, event };
}

function restart(run: LiveRun, step: number, call: CallState, at: Circumstances): NewRunEvent[] {
  const { started } = call;
  const tool = at.tools.get(call.tool);
  if (!started || !tool) return [];
  // What was allowed once may have been forbidden since: rules and mode are asked again at each dispatch (P4.3).
  const judgement = at.approvals ? at.judge(call, false) : undefined;
  const ruling = judgement?.ok ? rulingOn(run, tool, judgement.value, at) : rulingByMode(run.mode, tool);
  if (ruling.decision === 'deny') return [denied(run.mode, step, call, ruling)];
  return [
    {
      type: 'ToolCallStarted',
      data: { step, callId: call.callId, tool: call.tool, attempt: call.attempt + 1, ...started },
    },
  ];
}

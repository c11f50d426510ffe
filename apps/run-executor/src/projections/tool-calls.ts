import type { CallDecision, RunEvent, StoredText } from '@runyard/contracts';
import { askedAbout, decisionIn, decisionOn } from './decisions';
import { bytesOfText, digestOfText, shown } from './run-image';
import type { OpenCall, OpenTurn, Outcome, RunImage, StepRow } from './run-image';
import { addEntry, entryText, nextPlace } from './trajectory';

export type CallEvent = Extract<
  RunEvent,
  { type: `ToolCall${string}` | 'ApprovalRequested' | 'CallApproved' }
>;

export const isCallEvent = (event: RunEvent): event is CallEvent =>
  event.type.startsWith('ToolCall') || event.type === 'ApprovalRequested' || event.type === 'CallApproved';

/** What a call that was started and never settled leaves behind when its run ends. */
const UNKNOWN_EFFECT =
  'Whether this call took effect is not known: the run ended before its result was recorded.';

interface Settlement {
  outcome: Outcome;
  content: StoredText;
  error_code: string | null;
  /** When the last attempt began, where the event says so. */
  started_at: number | null;
}

/** Applies an event of a call of the open turn. An event for a call that is settled or was never asked for changes nothing. */
export function callEvent(image: RunImage, event: CallEvent, position: string): void {
  const { turn } = image.progress;
  const index = turn?.calls.findIndex((call) => call.call_id === event.data.callId) ?? -1;
  const call = turn?.calls[index];
  if (!turn || !call || call.status === 'settled') return;
  if (call.status === 'undecided') image.row.tool_calls += 1;
  switch (event.type) {
    case 'ApprovalRequested':
      if (call.status === 'undecided') call.status = 'asked';
      return askedAbout(call, event);
    case 'CallApproved':
      return decisionOn(image, call, event, position);
    case 'ToolCallStarted':
      return started(image, turn, index, call, event);
    case 'ToolCallAmbiguous':
      call.status = 'ambiguous';
      call.note = event.data.text;
      return;
    case 'ToolCallFailed':
      if (event.data.willRetry) {
        call.status = 'started';
        return;
      }
      break;
    default:
  }
  const decision = decisionIn(event);
  if (decision) decide(call, decision);
  decisionOn(image, call, event, position);
  settle(image, turn, index, call, settlement(event), event.time, position);
}

function started(
  image: RunImage,
  turn: OpenTurn,
  index: number,
  call: OpenCall,
  { data, time }: Extract<CallEvent, { type: 'ToolCallStarted' }>,
): void {
  const first = call.attempts === 0;
  call.status = 'started';
  call.attempts += 1;
  call.started_at ??= time;
  call.effect = data.effect;
  call.arguments_digest = data.argumentsDigest;
  decide(call, data.decision);
  if (first) addEntry(image, callPlace(image, turn, index), callEntry(turn, call));
}

function decide(call: OpenCall, decision: CallDecision): void {
  call.decided_by = decision.decidedBy;
  call.rule_id = decision.ruleId;
  call.group_key = decision.groupKey;
}

type Settling = Extract<CallEvent, { data: { observation: unknown } }>;

function settlement({ type, data }: Settling): Settlement {
  const rest = { content: data.observation, error_code: null };
  switch (type) {
    case 'ToolCallSucceeded':
      return { ...rest, outcome: 'succeeded', started_at: data.startedAt };
    case 'ToolCallFailed':
      return { ...rest, outcome: 'failed', error_code: data.error.code, started_at: data.startedAt };
    case 'ToolCallDenied':
      return { ...rest, outcome: 'denied', started_at: null };
    case 'ToolCallCancelled':
      return { ...rest, outcome: 'cancelled', started_at: data.startedAt };
    default:
      return type satisfies never;
  }
}

/** The call's row and its two entries; the turn closes with its last call. */
function settle(
  image: RunImage,
  turn: OpenTurn,
  index: number,
  call: OpenCall,
  settled: Settlement,
  time: number,
  position: string,
): void {
  if (call.attempts === 0) addEntry(image, callPlace(image, turn, index), callEntry(turn, call));
  turn.results_place ??= nextPlace(image, turn.calls.length);
  addEntry(image, turn.results_place + index, {
    kind: 'tool_result',
    step: turn.step,
    call_id: call.call_id,
    tool: call.tool,
    outcome: settled.outcome,
    content: entryText(image, settled.content),
  });
  image.steps.push(callStep(image, turn, index, call, settled, time, position));
  call.status = 'settled';
  call.arguments = null;
  if (turn.calls.every(({ status }) => status === 'settled')) image.progress.turn = null;
}

/** Calls stand in call order, whatever order they were dispatched in. */
function callPlace(image: RunImage, turn: OpenTurn, index: number): number {
  turn.calls_place ??= nextPlace(image, turn.calls.length);
  return turn.calls_place + index;
}

const callEntry = (turn: OpenTurn, call: OpenCall): Record<string, unknown> => ({
  kind: 'tool_call',
  step: turn.step,
  call_id: call.call_id,
  tool: call.tool,
  ...(call.effect === null ? {} : { effect: call.effect, arguments_digest: call.arguments_digest }),
  ...(call.decided_by === null
    ? {}
    : { decided_by: call.decided_by, rule_id: call.rule_id, group_key: call.group_key }),
  ...(call.child === undefined ? {} : { child_run_id: call.child.run_id }),
});

function callStep(
  image: RunImage,
  turn: OpenTurn,
  index: number,
  call: OpenCall,
  settled: Settlement,
  time: number,
  position: string,
): StepRow {
  return {
    run_id: image.run_id,
    org_id: image.org_id,
    seq: turn.first_seq + index,
    step: turn.step,
    kind: 'tool_call',
    call_id: call.call_id,
    tool: call.tool,
    arguments: shown(call.arguments),
    arguments_digest: digestOfText(call.arguments),
    content: shown(settled.content),
    content_digest: digestOfText(settled.content),
    content_bytes: bytesOfText(settled.content),
    outcome: settled.outcome,
    error_code: settled.error_code,
    attempts: call.attempts,
    started_at: Math.min(call.started_at ?? settled.started_at ?? time, time),
    ended_at: time,
    effect: call.effect,
    rule_id: call.rule_id,
    group_key: call.group_key,
    decided_by: call.decided_by,
    child_run_id: call.child?.run_id ?? null,
    position,
  };
}

/** A run that ends with calls in flight: each keeps a step that says that its effect is unknown. */
export function closeOpenCalls(image: RunImage, time: number, position: string): void {
  const { turn } = image.progress;
  if (!turn) return;
  for (const [index, call] of turn.calls.entries()) {
    if (call.status !== 'started' && call.status !== 'ambiguous') continue;
    const content: StoredText = { text: call.note ?? UNKNOWN_EFFECT };
    settle(
      image,
      turn,
      index,
      call,
      { outcome: 'failed', content, error_code: 'unknown_effect', started_at: null },
      time,
      position,
    );
  }
  image.progress.turn = null;
}

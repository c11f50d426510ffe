import type { CallDecision, ErrorInfo, Mode, ToolDefinition } from '@runyard/contracts';
import type { Circumstances, NewRunEvent } from './decision';
import type { Ruling } from './rulings';
import type { CallState, LiveRun } from './run';
import type { RecordedWrite } from './taken-over';

/**
 * The first dispatch of a call, durable before the effect (P4.2); or in a fork, where its source has made the same write, the
 * result that is recorded there.
 */
export function startedFirst(
  run: LiveRun,
  step: number,
  call: CallState,
  tool: ToolDefinition,
  argumentsDigest: string,
  decision: CallDecision,
  at: Circumstances,
): NewRunEvent {
  const recorded = tool.effect === 'write' ? recordOf(run, call, argumentsDigest) : undefined;
  if (recorded && run.originRunId !== null)
    return reused(step, call, decision, recorded, run.originRunId, at.now);
  const { grant } = call;
  return {
    type: 'ToolCallStarted',
    data: {
      step,
      callId: call.callId,
      tool: call.tool,
      effect: tool.effect,
      idempotent: tool.idempotent,
      idempotencyKey: `${at.runId}:${call.callId}`,
      argumentsDigest,
      attempt: 1,
      decision,
      ...(grant && { grant: grantOf(grant) }),
    },
  };
}

/** The source's record of an equal call; equal calls of one turn take one each. */
function recordOf(run: LiveRun, call: CallState, argumentsDigest: string): RecordedWrite | undefined {
  const equal = run.recordedWrites.filter(
    (write) => write.tool === call.tool && write.argumentsDigest === argumentsDigest,
  );
  if (run.phase.name !== 'calling_tools') return equal[0];
  const { calls } = run.phase;
  const earlier = calls.slice(
    0,
    calls.findIndex((one) => one.callId === call.callId),
  );
  return equal[
    earlier.filter(
      (one) => one.status !== 'settled' && one.tool === call.tool && one.arguments === call.arguments,
    ).length
  ];
}

const reused = (
  step: number,
  { callId, tool }: CallState,
  decision: CallDecision,
  recorded: RecordedWrite,
  runId: string,
  now: number,
): NewRunEvent => ({
  type: 'ToolCallSucceeded',
  data: {
    step,
    callId,
    tool,
    observation: { text: recorded.text },
    startedAt: now,
    reusedFrom: { runId, callId: recorded.callId, decision },
  },
});

/** What of a grant the dispatch names. */
export const grantOf = ({ approvalId, policyVersion, expiresAt }: NonNullable<CallState['grant']>) => ({
  approvalId,
  policyVersion,
  expiresAt,
});

/** A rule or the mode denies: no person was asked. */
export function denied(mode: Mode, step: number, call: CallState, ruling: Ruling): NewRunEvent {
  const text =
    ruling.by.ruleId === null
      ? `Denied: ${call.tool} changes something, and the run is in mode "${mode}". Describe the change instead.`
      : `Denied: ${call.tool} is not allowed with these arguments (rule ${ruling.by.ruleId}).`;
  return {
    type: 'ToolCallDenied',
    data: { step, callId: call.callId, tool: call.tool, observation: { text }, decision: ruling.by },
  };
}

export const unknownTool = (name: string, at: Circumstances): ErrorInfo => ({
  code: 'unknown_tool',
  text: `There is no tool "${name}". Tools: ${[...at.tools.keys()].join(', ') || 'none'}.`,
});

export function refused(step: number, call: CallState, now: number, error: ErrorInfo): NewRunEvent {
  return {
    type: 'ToolCallFailed',
    data: {
      step,
      callId: call.callId,
      tool: call.tool,
      error: { code: error.code, text: error.text },
      observation: { text: `Error: ${error.text}` },
      startedAt: now,
      attempt: 0,
      willRetry: false,
      retryInMs: 0,
    },
  };
}

import type { ApprovalKind, CallDecision } from '@runyard/contracts';
import { denied, grantOf, refused, startedFirst, unknownTool } from './call-events';
import type { Approvals, Circumstances, NewRunEvent } from './decision';
import type { ToolPhase } from './effects';
import { rulingOn } from './rulings';
import type { CallState, LiveRun } from './run';

/** A question about a call: whether it may go out, or what became of it. */
export function askAbout(
  step: number,
  call: CallState,
  kind: ApprovalKind,
  by: Pick<CallDecision, 'ruleId' | 'groupKey'>,
  approvals: Approvals,
  now: number,
  argumentsDigest = call.started?.argumentsDigest ?? '',
): NewRunEvent {
  return {
    type: 'ApprovalRequested',
    data: {
      approvalId: approvals.idOf(call.callId, kind, call.questions + 1),
      kind,
      callId: call.callId,
      step,
      tool: call.tool,
      arguments: shownArguments(call.arguments),
      argumentsDigest,
      ruleId: by.ruleId,
      groupKey: by.groupKey,
      policyVersion: approvals.policyVersion,
      expiresAt: now + approvals.ttlMs,
    },
  };
}

/** Longer arguments lie whole in the model turn that asked for them; a commit has a size. */
const MAX_ARGUMENTS = 16_000;

const shownArguments = (text: string) => ({
  text: text.length > MAX_ARGUMENTS ? `${text.slice(0, MAX_ARGUMENTS)}…` : text,
});

/**
 * Sends a call that a person has allowed. The grant is for this call and these arguments, until it expires; rules or a mode
 * that deny by now void it, a policy that has merely changed does not (P4.3).
 */
export function dispatchGranted(
  run: LiveRun,
  phase: ToolPhase,
  call: CallState,
  at: Circumstances,
): NewRunEvent[] {
  const { grant, started } = call;
  const tool = at.tools.get(call.tool);
  if (!grant || !tool) return [refused(phase.step, call, at.now, unknownTool(call.tool, at))];
  const judgement = at.judge(call, false);
  if (!judgement.ok) return [refused(phase.step, call, at.now, judgement)];
  const ruling = rulingOn(run, tool, judgement.value, at);
  if (ruling.decision === 'deny') return [denied(run.mode, phase.step, call, ruling)];
  const void_ = judgement.digest !== grant.argumentsDigest || at.now >= grant.expiresAt;
  if (void_ && at.approvals)
    return [askAbout(phase.step, call, grant.kind, grant.decision, at.approvals, at.now, judgement.digest)];
  if (!started) return [startedFirst(run, phase.step, call, tool, judgement.digest, grant.decision, at)];
  const { decision } = grant;
  return [
    {
      type: 'ToolCallStarted',
      data: {
        ...started,
        step: phase.step,
        callId: call.callId,
        tool: call.tool,
        argumentsDigest: judgement.digest,
        attempt: call.attempt + 1,
        decision,
        grant: grantOf(grant),
      },
    },
  ];
}

/** A call whose question is open, under the mode and the rules of now: allowed or denied by them, nobody need decide any more. */
export function ruleAgain(run: LiveRun, phase: ToolPhase, call: CallState, at: Circumstances): NewRunEvent[] {
  const tool = at.tools.get(call.tool);
  if (!tool || call.question?.kind !== 'call') return [];
  const judgement = at.judge(call, false);
  if (!judgement.ok) return [];
  const ruling = rulingOn(run, tool, judgement.value, at);
  if (ruling.decision === 'ask') return [];
  if (ruling.decision === 'deny') return [denied(run.mode, phase.step, call, ruling)];
  return [startedFirst(run, phase.step, call, tool, judgement.digest, ruling.by, at)];
}

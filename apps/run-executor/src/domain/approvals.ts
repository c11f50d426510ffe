import type { ApprovalVerdict, CallDecision, ErrorInfo, StoredText } from '@runyard/contracts';
import { openChildren } from './children';
import type { NewRunEvent } from './decision';
import { end, foldNew } from './next';
import { EXPIRY, overdueQuestion } from './questions';
import type { OpenQuestion } from './questions';
import { isLive } from './run';
import type { CallState, LiveRun, Phase, Run } from './run';

/** A decision as the approvals' log has it; `expire` is the system's: nobody decided in time. */
export interface Answer {
  approvalId: string;
  verdict: ApprovalVerdict | 'expire';
  /** Edited arguments; null: as asked. */
  arguments: StoredText | null;
  argumentsDigest: string;
  message: StoredText | null;
  wholeGroup: boolean;
  /** Actor that decided; from its credential. */
  decidedBy: string;
  /** The rule that was made of the decision. */
  ruleId: string | null;
}

type ToolPhase = Extract<Phase, { name: 'calling_tools' }>;

/**
 * Applies a decision to the run that asked. Nothing follows where the run has ended, or where the question is no longer
 * open: saying it twice, or after the call went another way, changes nothing (P5.4).
 */
export function decideAnswer(run: Run, answer: Answer, now: number, grantTtlMs: number): NewRunEvent[] {
  if (!isLive(run) || run.phase.name !== 'calling_tools') return [];
  const { phase } = run;
  const call = phase.calls.find((one) => one.question?.approvalId === answer.approvalId);
  if (!call?.question) return [];
  switch (answer.verdict) {
    case 'approve':
    case 'repeat':
      return approve(run, phase, call, answer, now + grantTtlMs);
    case 'deny':
      return [denied(phase.step, call, answer)];
    case 'done':
      return [done(phase.step, call, answer, now)];
    case 'fail':
      return [failed(phase.step, call, answer, now)];
    case 'expire':
      return expire(run, phase, call, answer, now);
    default:
      return answer.verdict satisfies never;
  }
}

/** One call, or with it the whole group: every other open question of the group is answered too, later ones do not arise. */
function approve(
  run: LiveRun,
  phase: ToolPhase,
  call: CallState,
  answer: Answer,
  expiresAt: number,
): NewRunEvent[] {
  const groupKey = call.question?.groupKey ?? null;
  const own = approved(phase.step, call, answer, expiresAt);
  if (!answer.wholeGroup || groupKey === null) return [own];
  const decision = decisionOn(call, answer);
  const others = phase.calls.filter(
    (one) => one !== call && one.question?.kind === 'call' && one.question.groupKey === groupKey,
  );
  const group: NewRunEvent = {
    type: 'GroupApproved',
    data: { groupKey, approvalId: answer.approvalId, decision },
  };
  const known = run.groups.some((one) => one.groupKey === groupKey);
  const asAsked = (question: OpenQuestion | null): Answer => ({
    ...answer,
    arguments: null,
    argumentsDigest: question?.argumentsDigest ?? '',
  });
  return [
    ...(known ? [] : [group]),
    own,
    ...others.map((one) => approved(phase.step, one, asAsked(one.question), expiresAt)),
  ];
}

/** Where a decision came from: a person, on a question that a rule or the mode had raised. */
const decisionOn = ({ question }: CallState, { decidedBy, ruleId }: Answer): CallDecision => ({
  decidedBy,
  ruleId: ruleId ?? question?.ruleId ?? null,
  groupKey: question?.groupKey ?? null,
});

function approved(step: number, call: CallState, answer: Answer, expiresAt: number): NewRunEvent {
  const question = call.question as OpenQuestion;
  return {
    type: 'CallApproved',
    data: {
      approvalId: question.approvalId,
      kind: question.kind,
      callId: call.callId,
      step,
      tool: call.tool,
      // Of what was decided about: where that is not what the call would send, the dispatch asks anew.
      argumentsDigest: answer.argumentsDigest,
      arguments: answer.arguments,
      decision: decisionOn(call, answer),
      policyVersion: question.policyVersion,
      expiresAt,
    },
  };
}

const denied = (step: number, call: CallState, answer: Answer): NewRunEvent => ({
  type: 'ToolCallDenied',
  data: {
    step,
    callId: call.callId,
    tool: call.tool,
    observation: answer.message ?? { text: 'Denied by a reviewer, not run.' },
    decision: decisionOn(call, answer),
    approvalId: answer.approvalId,
  },
});

const done = (step: number, call: CallState, answer: Answer, now: number): NewRunEvent => ({
  type: 'ToolCallSucceeded',
  data: {
    step,
    callId: call.callId,
    tool: call.tool,
    observation: answer.message ?? { text: 'Done; a person has looked.' },
    startedAt: now,
    resolution: { approvalId: answer.approvalId, decision: decisionOn(call, answer) },
  },
});

function failed(step: number, call: CallState, answer: Answer, now: number): NewRunEvent {
  const error: ErrorInfo = { code: 'unknown_effect', text: 'A person has decided that the call failed.' };
  return {
    type: 'ToolCallFailed',
    data: {
      step,
      callId: call.callId,
      tool: call.tool,
      error: answer.verdict === 'expire' ? { ...error, text: overdueQuestion(call).text } : error,
      observation: answer.message ?? { text: 'Error: the call failed; a person has looked.' },
      startedAt: now,
      attempt: call.attempt,
      willRetry: false,
      retryInMs: 0,
      resolution: { approvalId: answer.approvalId, decision: decisionOn(call, answer) },
    },
  };
}

/** Nobody decided: told apart from a denial by who decided. A driver at work ends the run itself, when what is under way is recorded. */
function expire(run: LiveRun, phase: ToolPhase, call: CallState, answer: Answer, now: number): NewRunEvent[] {
  const ambiguous = call.question?.kind === 'ambiguous';
  const text = ambiguous
    ? 'Expired: nobody said in time what became of this call.'
    : 'Expired, not run: nobody decided in time.';
  const bySystem: Answer = { ...answer, decidedBy: EXPIRY, message: { text } };
  const settled = ambiguous ? failed(phase.step, call, bySystem, now) : denied(phase.step, call, bySystem);
  // A driver, or one that it wakes, ends the run when what is under way is recorded and its children have ended (P6.5).
  if ((run.situation === 'running' && !run.woken) || openChildren(run).length > 0) return [settled];
  const after = foldNew(run, [settled], now);
  const error = overdueQuestion(call);
  if (!isLive(after)) return [settled];
  return [
    settled,
    ...end(after, {
      type: 'RunFailed',
      data: { termination: 'ConfirmationPending', reason: 'approval_expired', error },
    }),
  ];
}

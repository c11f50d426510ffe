import type { ApprovalRequested, CallApproved, GroupApproved, RunAwaitingApproval } from '@runyard/contracts';
import type { CallEvent } from './calls';
import type { Material } from './material';
import { wholeText } from './material';
import { EXPIRY, overdueQuestion } from './questions';
import { usedMilliseconds } from './run';
import type { CallState, LiveRun } from './run';

// How events about questions and answers fold.

/** A run that waited for decisions is runnable again: anybody may claim it. */
export const awake = (run: LiveRun): LiveRun =>
  run.situation === 'awaiting_approval' ? { ...run, situation: 'running', woken: true } : run;

/**
 * An event of a call wakes a run that was parked for it; a question that expired ends it. One that waits for children is
 * woken by what it can act on meanwhile: a call that was allowed, or its own end.
 */
export function answered(run: LiveRun, event: CallEvent): LiveRun {
  const expired =
    (event.type === 'ToolCallDenied' && event.data.decision.decidedBy === EXPIRY) ||
    (event.type === 'ToolCallFailed' && event.data.resolution?.decision.decidedBy === EXPIRY);
  const cutsWaiting = run.situation === 'waiting' && (event.type === 'CallApproved' || expired);
  const after = cutsWaiting ? { ...run, situation: 'running' as const, woken: true } : awake(run);
  return expired ? { ...after, expiredQuestion: overdueQuestion(event.data) } : after;
}

/** Parks a run, or allows a group of its calls. */
export function asked(run: LiveRun, event: RunAwaitingApproval | GroupApproved): LiveRun {
  if (event.type === 'GroupApproved') {
    const { groupKey, decision } = event.data;
    return { ...run, groups: [...run.groups, { groupKey, decision }] };
  }
  if (run.situation !== 'running') return run;
  return {
    ...run,
    situation: 'awaiting_approval',
    parkedForPeople: true,
    usedMilliseconds: usedMilliseconds(run, event.time),
    runningSince: null,
  };
}

export function askedCall(call: CallState, data: ApprovalRequested['data']): CallState {
  const { approvalId, kind, argumentsDigest, ruleId, groupKey, policyVersion, expiresAt } = data;
  const question = { approvalId, kind, argumentsDigest, ruleId, groupKey, policyVersion, expiresAt };
  return { ...call, status: 'awaiting', question, grant: null, questions: call.questions + 1 };
}

/** A grant of another question, or of one that is answered, is nothing. */
export function approvedCall(call: CallState, data: CallApproved['data'], material: Material): CallState {
  if (call.question?.approvalId !== data.approvalId) return call;
  const { approvalId, kind, argumentsDigest, decision, policyVersion, expiresAt } = data;
  const edited = data.arguments !== null || call.grant?.edited === true;
  return {
    ...call,
    status: 'approved',
    arguments: data.arguments === null ? call.arguments : wholeText(data.arguments, material),
    question: null,
    grant: { approvalId, kind, argumentsDigest, decision, policyVersion, expiresAt, edited },
  };
}

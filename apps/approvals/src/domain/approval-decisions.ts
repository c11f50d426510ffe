import { Problem } from '@runyard/contracts';
import type {
  ApprovalEvent,
  ApprovalVerdict,
  NewEvent,
  PermissionRule,
  StoredText,
} from '@runyard/contracts';
import type { Approval, Question, Settled } from './approval';
import { requireReviewer } from './rights';
import type { Asker } from './rights';

/** A reviewer's answer. */
export interface DecideApproval {
  type: 'DecideApproval';
  asker: Asker;
  /** Actor of the credential; a decision that is repeated by the same person is the same one. */
  actor: string;
  /** Epoch milliseconds: whether the question has expired is judged here, by no timer. */
  now: number;
  verdict: ApprovalVerdict;
  /** Edited arguments with their digest; null: as asked. */
  edited: { text: StoredText; digest: string } | null;
  message: StoredText | null;
  wholeGroup: boolean;
  rule: PermissionRule | null;
}

export type ApprovalCommand =
  | { type: 'OpenApproval'; question: Question }
  | DecideApproval
  /** Another question of the same group was approved for the whole group. */
  | { type: 'ApproveMember'; approvedBy: string; now: number }
  | { type: 'ExpireApproval'; now: number }
  | { type: 'WithdrawApproval'; reason: string };

type Decided<E = ApprovalEvent> = E extends { type: infer T extends string; data: infer D }
  ? NewEvent<T, D>
  : never;

/** Throws Problems `not_found`, `forbidden`, `invalid_request`, `approval_decided`, `approval_expired`, `approval_withdrawn`. */
export function decideApproval(approval: Approval, command: ApprovalCommand): Decided[] {
  switch (command.type) {
    case 'OpenApproval':
      return approval.situation === 'absent' ? [{ type: 'ApprovalOpened', data: command.question }] : [];
    case 'DecideApproval':
      return decide(approval, command);
    case 'ApproveMember':
      return approveMember(approval, command);
    case 'ExpireApproval':
      return approval.situation === 'pending' && command.now >= approval.question.expiresAt
        ? [{ type: 'ApprovalExpired', data: placeOf(approval.question) }]
        : [];
    case 'WithdrawApproval':
      return approval.situation === 'pending'
        ? [{ type: 'ApprovalWithdrawn', data: { ...placeOf(approval.question), reason: command.reason } }]
        : [];
    default:
      return command satisfies never;
  }
}

const placeOf = ({ runId, callId }: Question) => ({ runId, callId });

function decide(approval: Approval, command: DecideApproval): Decided[] {
  if (approval.situation === 'absent') throw new Problem('not_found', 'There is no such approval');
  requireReviewer(command.asker);
  const { question } = approval;
  const answer = answerTo(question, command);
  if (approval.situation === 'decided') return again(approval.settled, command, answer.argumentsDigest);
  if (approval.situation === 'withdrawn') throw withdrawn(approval.reason);
  if (approval.situation === 'expired' || command.now >= question.expiresAt) throw expired(question);
  return [{ type: 'ApprovalDecided', data: answer }];
}

/** What would be recorded; refuses an answer that does not fit its question. */
function answerTo(question: Question, command: DecideApproval) {
  const { verdict, edited, wholeGroup, rule, message } = command;
  const fitting: readonly ApprovalVerdict[] =
    question.kind === 'call' ? ['approve', 'deny'] : ['done', 'repeat', 'fail'];
  if (!fitting.includes(verdict))
    throw invalid('/verdict', `must be one of ${fitting.join(', ')}: ${ABOUT[question.kind]}`);
  const approving = verdict === 'approve';
  if (edited && !approving) throw invalid('/arguments', 'may only come with approve');
  if (rule && !approving) throw invalid('/rule', 'may only come with approve');
  if (wholeGroup && !approving) throw invalid('/whole_group', 'may only come with approve');
  if (wholeGroup && question.groupKey === null)
    throw invalid('/whole_group', 'must be false: the call belongs to no group');
  if (verdict === 'done' && !message)
    throw invalid('/message', 'must say what the call has led to: it becomes the result that the model sees');
  return {
    ...placeOf(question),
    verdict,
    arguments: edited?.text ?? null,
    argumentsDigest: edited?.digest ?? question.argumentsDigest,
    message,
    wholeGroup,
    groupKey: question.groupKey,
    ruleId: rule?.ruleId ?? null,
    ...(rule ? { rule } : {}),
  };
}

const ABOUT = {
  call: 'the call has not gone out',
  ambiguous: 'the call went out and nobody knows what became of it',
} as const;

/** The same person who says the same again has decided; everybody else is told the first decision. */
function again(settled: Settled, { actor, verdict, wholeGroup }: DecideApproval, digest: string): Decided[] {
  const same =
    settled.decidedBy === actor &&
    settled.verdict === verdict &&
    settled.argumentsDigest === digest &&
    settled.wholeGroup === wholeGroup;
  if (same) return [];
  throw new Problem('approval_decided', `Somebody was first: ${settled.decidedBy} said ${settled.verdict}`, {
    verdict: settled.verdict,
    decided_by: settled.decidedBy,
    decided_at: new Date(settled.decidedAt).toISOString(),
    arguments_digest: settled.argumentsDigest,
  });
}

const expired = ({ expiresAt, runId }: Question): Problem =>
  new Problem(
    'approval_expired',
    'Nobody decided in time, so the call was not made; nothing can be decided now',
    {
      expired_at: new Date(expiresAt).toISOString(),
      run_id: runId,
    },
  );

const withdrawn = (reason: string): Problem =>
  new Problem('approval_withdrawn', 'The run no longer asks; nothing is left to decide', { reason });

const invalid = (pointer: string, detail: string): Problem =>
  new Problem('invalid_request', `The decision is not valid: ${pointer} ${detail}`, {
    errors: [{ pointer, detail }],
  });

/** An earlier decision of its own stands, and what has expired has expired. */
function approveMember(
  approval: Approval,
  { approvedBy, now }: { approvedBy: string; now: number },
): Decided[] {
  if (approval.situation !== 'pending' || approval.question.kind !== 'call') return [];
  const { question } = approval;
  if (now >= question.expiresAt) return [];
  const data = {
    ...placeOf(question),
    verdict: 'approve' as const,
    arguments: null,
    argumentsDigest: question.argumentsDigest,
    message: null,
    wholeGroup: false,
    groupKey: question.groupKey,
    ruleId: null,
    groupOf: approvedBy,
  };
  return [{ type: 'ApprovalDecided', data }];
}

import type { ApprovalKind } from '../approvals/approval.events';
import type { DomainEvent, StoredText } from '../envelope';
import type { CallDecision } from './call.events';

// What a run itself records of a decision by a person. The question is decided in the approvals' log and applied here:
// decided and applied are two facts in two logs.

/** A call needs a person's decision; the other calls of its turn go on. */
export type ApprovalRequested = DomainEvent<
  'ApprovalRequested',
  {
    /** `apr_` and 26 characters that derive from run, call, kind and round. */
    approvalId: string;
    kind: ApprovalKind;
    callId: string;
    step: number;
    tool: string;
    /** What would be sent: the provider's raw text, or a reviewer's. */
    arguments: StoredText;
    /** SHA-256 of the canonical arguments: the grant holds for these alone. */
    argumentsDigest: string;
    /** The rule that asked; null where the mode did. */
    ruleId: string | null;
    groupKey: string | null;
    /** Version of the org's rules under which the question arose. */
    policyVersion: number;
    /** Epoch milliseconds after which nobody may decide any more. */
    expiresAt: number;
  }
>;

/** Nothing is left to do but to wait for decisions: no driver, no memory, no deadline, and the slot stays (P5.2). */
export type RunAwaitingApproval = DomainEvent<
  'RunAwaitingApproval',
  { approvalIds: string[]; expiresAt: number }
>;

/** The single-use grant of one call: allowed as asked, or with a reviewer's arguments. */
export type CallApproved = DomainEvent<
  'CallApproved',
  {
    approvalId: string;
    /** `ambiguous`: repeat a call that nobody knows the outcome of. */
    kind: ApprovalKind;
    callId: string;
    step: number;
    tool: string;
    /** Of the arguments that may be sent. */
    argumentsDigest: string;
    /** A reviewer's arguments as JSON text; null: as asked. */
    arguments: StoredText | null;
    decision: CallDecision;
    policyVersion: number;
    /** Epoch milliseconds; a grant that is older when its call could go out asks again. */
    expiresAt: number;
  }
>;

/** Holds for every call of the run in the group from here on; a rule that denies still denies. */
export type GroupApproved = DomainEvent<
  'GroupApproved',
  { groupKey: string; approvalId: string; decision: CallDecision }
>;

export type RunApprovalEvent = ApprovalRequested | RunAwaitingApproval | CallApproved | GroupApproved;

export const RUN_APPROVAL_EVENTS: Readonly<Record<RunApprovalEvent['type'], true>> = {
  ApprovalRequested: true,
  RunAwaitingApproval: true,
  CallApproved: true,
  GroupApproved: true,
};

import type { DomainEvent, StoredText } from '../envelope';
import type { PermissionRule } from './permission.events';

// Context `approvals`: one aggregate a question, under the approval's id. The run asks (`ApprovalRequested` in its log), a
// person decides here, and the run takes the answer over: decided and applied are two facts in two logs.

/** What is asked: whether a call may go out, or what became of one that nobody knows the outcome of. */
export type ApprovalKind = 'call' | 'ambiguous';

/** A run asks and waits. */
export type ApprovalOpened = DomainEvent<
  'ApprovalOpened',
  {
    kind: ApprovalKind;
    runId: string;
    agentId: string;
    agentVersion: number;
    ownerId: string;
    step: number;
    callId: string;
    tool: string;
    /** The provider's raw text. */
    arguments: StoredText;
    /** SHA-256 of the canonical arguments: the grant holds for these alone. */
    argumentsDigest: string;
    /** The rule that asked; null where the mode did. */
    ruleId: string | null;
    groupKey: string | null;
    /** Version of the org's rules under which the question arose. */
    policyVersion: number;
    /** Epoch milliseconds; a decision at or after it is refused. */
    expiresAt: number;
  }
>;

/** What a person decided. `repeat`, `done` and `fail` answer an ambiguous call. */
export type ApprovalVerdict = 'approve' | 'deny' | 'repeat' | 'done' | 'fail';

/** A person has answered; the run takes it over as soon as it can. */
export type ApprovalDecided = DomainEvent<
  'ApprovalDecided',
  {
    runId: string;
    callId: string;
    verdict: ApprovalVerdict;
    /** Edited arguments as JSON text, validated against the tool's schema; null: as asked. */
    arguments: StoredText | null;
    /** Of the arguments that may go out. */
    argumentsDigest: string;
    /** What the model is told: the reason of a denial, the result of a call that was done. */
    message: StoredText | null;
    /** True: holds for every call of the run in the same group. */
    wholeGroup: boolean;
    groupKey: string | null;
    /** The rule that was made of the decision. */
    ruleId: string | null;
    /** That rule itself: it is added to the org's rules by reaction, so that no crash loses it. */
    rule?: PermissionRule;
    /** The approval whose decision for the whole group answered this one too. */
    groupOf?: string;
  }
>;

/** Nobody decided in time: the system's doing, never a denial. */
export type ApprovalExpired = DomainEvent<'ApprovalExpired', { runId: string; callId: string }>;
/** The run ended, or the call went another way: nothing is left to decide. */
export type ApprovalWithdrawn = DomainEvent<
  'ApprovalWithdrawn',
  { runId: string; callId: string; reason: string }
>;

export type ApprovalEvent = ApprovalOpened | ApprovalDecided | ApprovalExpired | ApprovalWithdrawn;

export const APPROVAL_EVENTS: Readonly<Record<ApprovalEvent['type'], true>> = {
  ApprovalOpened: true,
  ApprovalDecided: true,
  ApprovalExpired: true,
  ApprovalWithdrawn: true,
};

import type { ApprovalKind, CallDecision, ErrorInfo } from '@runyard/contracts';

/** A question about a call that nobody has answered yet. */
export interface OpenQuestion {
  approvalId: string;
  kind: ApprovalKind;
  argumentsDigest: string;
  ruleId: string | null;
  groupKey: string | null;
  policyVersion: number;
  expiresAt: number;
}

/** What a person allowed: this call, with these arguments, until then; used up by its dispatch. */
export interface Grant {
  approvalId: string;
  kind: ApprovalKind;
  argumentsDigest: string;
  decision: CallDecision;
  policyVersion: number;
  expiresAt: number;
  /** The reviewer's arguments stand for the model's. */
  edited: boolean;
}

export interface GroupGrant {
  groupKey: string;
  decision: CallDecision;
}

/** Who decides where nobody did in time: the system, so that it is never taken for a denial. */
export const EXPIRY = 'system:expiry';

/** Why a run ends whose question was left open for too long. */
export const overdueQuestion = ({ tool, callId }: { tool: string; callId: string }): ErrorInfo => ({
  code: 'approval_expired',
  text: `Nobody decided in time about ${tool} (${callId}).`,
});

import type {
  ApprovalDecided,
  ApprovalEvent,
  ApprovalExpired,
  ApprovalOpened,
  ApprovalWithdrawn,
} from '@runyard/contracts';

export type Question = ApprovalOpened['data'];

/** The first decision, as a second decider is told it. */
export interface Settled {
  verdict: ApprovalDecided['data']['verdict'];
  argumentsDigest: string;
  wholeGroup: boolean;
  ruleId: string | null;
  /** Actor. */
  decidedBy: string;
  /** Epoch milliseconds. */
  decidedAt: number;
}

/** One question about one call of one run. Every situation but `pending` is final. */
export type Approval =
  | { situation: 'absent' }
  | { situation: 'pending'; question: Question }
  | { situation: 'decided'; question: Question; settled: Settled }
  | { situation: 'expired'; question: Question; at: number }
  | { situation: 'withdrawn'; question: Question; reason: string };

export const NO_APPROVAL: Approval = { situation: 'absent' };

export function evolveApproval(approval: Approval, event: ApprovalEvent): Approval {
  if (event.type === 'ApprovalOpened') return { situation: 'pending', question: event.data };
  return approval.situation === 'pending' ? closed(approval.question, event) : approval;
}

type Closing = ApprovalDecided | ApprovalExpired | ApprovalWithdrawn;

function closed(question: Question, event: Closing): Approval {
  switch (event.type) {
    case 'ApprovalDecided': {
      const { verdict, argumentsDigest, wholeGroup, ruleId } = event.data;
      const settled = {
        verdict,
        argumentsDigest,
        wholeGroup,
        ruleId,
        decidedBy: event.actor,
        decidedAt: event.time,
      };
      return { situation: 'decided', question, settled };
    }
    case 'ApprovalExpired':
      return { situation: 'expired', question, at: event.time };
    case 'ApprovalWithdrawn':
      return { situation: 'withdrawn', question, reason: event.data.reason };
    default:
      return event satisfies never;
  }
}

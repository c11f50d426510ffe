import type { ApprovalDecided, ApprovalEvent, ApprovalVerdict, PermissionEvent } from '@runyard/contracts';
import { counted } from './activity-lines';
import type { LinesOf } from './activity-lines';

const VERDICTS: Readonly<Record<ApprovalVerdict, string>> = {
  approve: 'approved the call',
  deny: 'denied the call',
  done: 'said that the call was done',
  repeat: 'had the call repeated',
  fail: 'said that the call had failed',
};

function verdictOf({ data }: ApprovalDecided): string {
  const more = [
    data.arguments && 'with edited arguments',
    data.wholeGroup && 'for its whole group',
    data.groupOf && `with ${data.groupOf}`,
    data.ruleId && 'and made a rule of it',
  ];
  return [VERDICTS[data.verdict], ...more].filter(Boolean).join(' ');
}

/** Questions to people and their answers, and the rules that answer in people's place. */
export const APPROVAL_LINES: LinesOf<ApprovalEvent | PermissionEvent> = {
  ApprovalOpened: ({ data }) => ({
    topic: 'decisions',
    kind: 'approval.opened',
    summary:
      data.kind === 'call'
        ? `asks whether ${data.tool} may be called`
        : `asks what came of a call of ${data.tool}`,
    facts: { owner_id: data.ownerId, agent_id: data.agentId, run_id: data.runId },
  }),
  ApprovalDecided: (event) => ({
    topic: 'decisions',
    kind: 'approval.decided',
    summary: verdictOf(event),
    facts: { run_id: event.data.runId },
  }),
  ApprovalExpired: ({ data }) => ({
    topic: 'decisions',
    kind: 'approval.expired',
    summary: 'closed the question: nobody decided in time',
    facts: { run_id: data.runId },
  }),
  ApprovalWithdrawn: ({ data }) => ({
    topic: 'decisions',
    kind: 'approval.withdrawn',
    summary: `withdrew the question (${data.reason})`,
    facts: { run_id: data.runId },
  }),
  RuleAdded: ({ data: { rule } }) => ({
    topic: 'decisions',
    kind: 'rule.added',
    summary: `added a rule: ${rule.decision} ${rule.tool}${rule.conditions.length ? ' under conditions' : ''}`,
    subject: rule.ruleId,
    facts: { agent_id: rule.scope.kind === 'agent' ? rule.scope.agentId : null },
  }),
  RuleRemoved: ({ data }) => ({
    topic: 'decisions',
    kind: 'rule.removed',
    summary: 'removed a rule',
    subject: data.ruleId,
  }),
  RulesErased: ({ data }) => ({
    topic: 'decisions',
    kind: 'rule.erased',
    summary: `erased ${counted(data.ruleIds.length, 'rule')}; nothing of their content is left`,
    forgets: data.ruleIds,
  }),
};

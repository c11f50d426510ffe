import { Problem, decideCall } from '@runyard/contracts';
import type { Json, KeptRuleInput, PermissionRule, Policy, StandingRule } from '@runyard/contracts';
import { derivedId } from '@runyard/event-log';
import type { Question } from '../domain/approval';
import { requireMatching } from '../domain/permissions';

/** What a rule is made from: the question, and what its call would send. */
export interface Asked {
  approvalId: string;
  question: Question;
  effect: 'read' | 'write';
  arguments: Json;
}

/** The rule that an approval is to leave behind: for the agent and the tool of the call, where nothing else is said. */
export function madeRule({ approvalId, question }: Asked, input: KeptRuleInput): PermissionRule {
  return {
    ruleId: derivedId('rul', approvalId),
    scope: scopeOf(input, question),
    tool: question.tool,
    conditions: input.conditions,
    decision: 'allow',
    groupKey: null,
    expiresAt: input.expires_at === null ? null : Date.parse(input.expires_at),
    note: input.note,
    approvalId,
  };
}

function scopeOf({ scope }: KeptRuleInput, { agentId }: Question): PermissionRule['scope'] {
  if (!scope) return { kind: 'agent', agentId };
  if (scope.kind === 'org') return { kind: 'org' };
  return scope.kind === 'owner'
    ? { kind: 'owner', ownerId: scope.owner_id }
    : { kind: 'agent', agentId: scope.agent_id };
}

/**
 * Refuses a rule that would not do what its maker is told: one that matches nothing, not even this call, one that a standing
 * rule outranks, and one that would outrank a rule that denies (`rule_outranks_deny`).
 */
export function requireEffective(rule: PermissionRule, asked: Asked, policy: Policy, now: number): void {
  requireMatching(rule, now, null, '/rule');
  const { agentId, ownerId, tool } = asked.question;
  const standing: StandingRule = { ...rule, author: 'system:approvals', addedAt: now };
  const call = {
    agentId,
    ownerId,
    tool,
    effect: asked.effect,
    arguments: asked.arguments,
    mode: 'ask',
    now,
  } as const;
  const { considered, ...decided } = decideCall({ ...policy, rules: [...policy.rules, standing] }, call);
  const denying = considered.find(({ says }) => says === 'deny');
  if (denying)
    throw new Problem(
      'rule_outranks_deny',
      `Rule ${denying.ruleId} denies such calls; no approval makes a rule against it`,
      {
        rule_id: denying.ruleId,
      },
    );
  if (decided.ruleId === rule.ruleId) return;
  const own = considered.find(({ ruleId }) => ruleId === rule.ruleId);
  const detail = `would not decide such a call: ${own?.why ?? decided.reason}`;
  throw new Problem('invalid_request', `The rule is not valid: /rule ${detail}`, {
    errors: [{ pointer: '/rule', detail }],
  });
}

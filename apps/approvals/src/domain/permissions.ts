import { NO_POLICY, Problem, evolvePolicy, ruleRefusals } from '@runyard/contracts';
import type { KnownTool, NewEvent, PermissionEvent, PermissionRule, Policy } from '@runyard/contracts';
import { requireRuleRight } from './rights';
import type { Asker } from './rights';

/** Most rules of an org: each decision looks at all of them. */
export const MOST_RULES = 2_000;

export type PermissionsCommand =
  | {
      type: 'AddRule';
      asker: Asker;
      rule: PermissionRule;
      /** Whose agents the rule is for; null: the org's. */
      ownerId: string | null;
      now: number;
      tools: readonly KnownTool[] | null;
    }
  /** A rule that a decision made; its maker's rights were checked with the decision. */
  | { type: 'KeepRule'; rule: PermissionRule }
  | {
      type: 'RemoveRule';
      asker: Asker;
      ruleId: string;
      /** The owner of a rule's agent, by agent; owners remove what they may add. */
      ownerOfAgent: string | null;
    };

type Decided<E = PermissionEvent> = E extends { type: infer T extends string; data: infer D }
  ? NewEvent<T, D>
  : never;

/** The rules of an org, and every rule that it ever had: one that was removed is not added again by whoever comes late. */
export interface Permissions extends Policy {
  ever: readonly string[];
}

export const NO_PERMISSIONS: Permissions = { ...NO_POLICY, ever: [] };

export function evolvePermissions(permissions: Permissions, event: PermissionEvent): Permissions {
  const { ever } = permissions;
  return { ...evolvePolicy(permissions, event), ever: [...ever, ...namedBy(event)] };
}

/** An erased rule is still one that was: a decision that is read again does not add it anew. */
function namedBy(event: PermissionEvent): readonly string[] {
  if (event.type === 'RuleAdded') return [event.data.rule.ruleId];
  return event.type === 'RulesErased' ? event.data.ruleIds : [];
}

/** Throws Problems `forbidden`, `invalid_request`, `conflict`, `not_found`. */
export function decidePermissions(policy: Permissions, command: PermissionsCommand): Decided[] {
  switch (command.type) {
    case 'AddRule':
      return add(policy, command);
    case 'KeepRule':
      return has(policy, command.rule.ruleId) ? [] : [{ type: 'RuleAdded', data: { rule: command.rule } }];
    case 'RemoveRule':
      return remove(policy, command);
    default:
      return command satisfies never;
  }
}

const has = ({ ever }: Permissions, ruleId: string): boolean => ever.includes(ruleId);

function add(policy: Permissions, command: Extract<PermissionsCommand, { type: 'AddRule' }>): Decided[] {
  const { rule, asker, ownerId, now, tools } = command;
  requireRuleRight(asker, rule.scope.kind, ownerId, rule.decision);
  if (has(policy, rule.ruleId)) return [];
  requireMatching(rule, now, tools);
  if (policy.rules.length >= MOST_RULES)
    throw new Problem('conflict', `An organization has at most ${MOST_RULES} rules; remove some first`);
  return [{ type: 'RuleAdded', data: { rule } }];
}

/** Throws `invalid_request` for a rule that could never match anything. */
export function requireMatching(
  rule: Omit<PermissionRule, 'ruleId'>,
  now: number,
  tools: readonly KnownTool[] | null,
  at = '',
): void {
  const errors = ruleRefusals(rule, now, tools).map(({ pointer, detail }) => ({
    pointer: `${at}${pointer}`,
    detail,
  }));
  const [first] = errors;
  if (first)
    throw new Problem('invalid_request', `The rule would match nothing: ${first.pointer} ${first.detail}`, {
      errors,
    });
}

function remove(
  policy: Permissions,
  command: Extract<PermissionsCommand, { type: 'RemoveRule' }>,
): Decided[] {
  const { asker, ruleId, ownerOfAgent } = command;
  const rule = policy.rules.find((one) => one.ruleId === ruleId);
  if (!rule) throw new Problem('not_found', 'There is no such rule; it may have been removed already');
  const ownerId = rule.scope.kind === 'owner' ? rule.scope.ownerId : ownerOfAgent;
  // What an owner made to bind their own agents they may undo; what others made for them they may not.
  const own = rule.author === `user:${asker.userId}`;
  requireRuleRight(asker, rule.scope.kind, own ? ownerId : null, rule.decision);
  return [{ type: 'RuleRemoved', data: { ruleId } }];
}

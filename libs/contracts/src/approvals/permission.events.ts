import type { DomainEvent } from '../envelope';
import type { Json } from '../json';

// Context `permissions`: one aggregate an org, `rules`, so that every decision has one version of the rules to name.

/** Aggregate id of an org's permission rules. */
export const RULES_ID = 'rules';

/** What a rule says of a call that it matches. */
export type RuleDecision = 'allow' | 'deny' | 'ask';

/** For whose calls a rule is meant, from the least to the most specific. */
export type RuleScope =
  | { kind: 'org' }
  | { kind: 'owner'; ownerId: string }
  | { kind: 'agent'; agentId: string };

/**
 * A condition on one place of the arguments, named by JSON Pointer. Where a place holds a list of texts, an allowing rule needs
 * all of them to match, a denying or asking one any.
 */
export type ArgumentCondition = { at: string } & (
  | { is: 'present' | 'absent' }
  | { is: 'equals'; value: Json }
  | { is: 'one_of'; values: Json[] }
  /** A text in which `*` stands for anything. Not for command lines, paths or URLs: those are parsed by the next three. */
  | { is: 'like'; pattern: string }
  | { is: 'at_least' | 'at_most'; value: number }
  /** A command line, or a list of words: `git *`, `npm run test`. */
  | { is: 'command'; patterns: string[] }
  /** A path at or below one of these directories. */
  | { is: 'path_within'; directories: string[] }
  /** A URL. Hosts may begin with `*.` for every subdomain; what is left out is the scheme's own port and http or https. */
  | { is: 'url'; hosts: string[]; schemes?: string[]; ports?: number[]; path?: string }
);

export interface PermissionRule {
  ruleId: string;
  scope: RuleScope;
  /** Name of a tool; `*` stands for anything. */
  tool: string;
  /** All must hold. */
  conditions: ArgumentCondition[];
  decision: RuleDecision;
  /** Calls with the same key are one group: `refund:{/customer_id}` takes the arguments' value at that pointer. */
  groupKey: string | null;
  /** Epoch milliseconds from which the rule holds no longer. */
  expiresAt: number | null;
  /** Why it is there, for people. */
  note: string | null;
  /** The approval that it was made of. */
  approvalId: string | null;
}

/** A rule holds from the next dispatch on. */
export type RuleAdded = DomainEvent<'RuleAdded', { rule: PermissionRule }>;
/** A rule holds no longer. */
export type RuleRemoved = DomainEvent<'RuleRemoved', { ruleId: string }>;
/**
 * Rules were erased with the person whose calls they were about: what added them is overwritten (P9.1). `version` is that
 * of the policy from here on, so that it counts on although events are missing.
 */
export type RulesErased = DomainEvent<'RulesErased', { ruleIds: string[]; version: number }>;
export type PermissionEvent = RuleAdded | RuleRemoved | RulesErased;

export const PERMISSION_EVENTS: Readonly<Record<PermissionEvent['type'], true>> = {
  RuleAdded: true,
  RuleRemoved: true,
  RulesErased: true,
};

/** A rule as it stands, with its author. */
export interface StandingRule extends PermissionRule {
  /** Actor that added it. */
  author: string;
  /** Epoch milliseconds. */
  addedAt: number;
}

/** The rules of an org at a version; the version counts every change and is what decisions name as their policy's. */
export interface Policy {
  version: number;
  rules: readonly StandingRule[];
}

export const NO_POLICY: Policy = { version: 0, rules: [] };

/** Folds the aggregate {@link RULES_ID}; for every service that decides by the rules. */
export function evolvePolicy(policy: Policy, event: PermissionEvent): Policy {
  const version = policy.version + 1;
  switch (event.type) {
    case 'RuleAdded':
      return {
        version,
        rules: [...policy.rules, { ...event.data.rule, author: event.actor, addedAt: event.time }],
      };
    case 'RuleRemoved':
      return { version, rules: policy.rules.filter(({ ruleId }) => ruleId !== event.data.ruleId) };
    case 'RulesErased': {
      const { ruleIds } = event.data;
      const rules = policy.rules.filter(({ ruleId }) => !ruleIds.includes(ruleId));
      return { version: event.data.version, rules };
    }
    default:
      return event satisfies never;
  }
}

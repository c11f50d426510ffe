import type { Json } from '../json';
import type { CallDecision } from '../runs/call.events';
import type { Mode } from '../runs/run.states';
import { conditionHolds, conditionText } from './argument-condition';
import type { Certainty, Stance } from './certainty';
import { allOf } from './certainty';
import { exactness, globMatches } from './globs';
import { groupKeyOf } from './group-key';
import type { Policy, RuleDecision, StandingRule } from './permission.events';

/** A call that wants to go out. */
export interface CallInQuestion {
  agentId: string;
  ownerId: string;
  tool: string;
  effect: 'read' | 'write';
  /** Parsed; what is decided about is what is sent. */
  arguments: Json;
  mode: Mode;
  /** Epoch milliseconds: whether a rule has expired. */
  now: number;
}

/** What became of a rule when a call was decided. */
export interface ConsideredRule {
  ruleId: string;
  /** `won`: it decided. `outranked`: it matched, another was more specific or stricter. */
  result: 'won' | 'outranked' | 'not_matched';
  /** What the rule said of this call; null where it did not match. */
  says: RuleDecision | null;
  why: string;
}

/** What decides a call, where it comes from, and why nothing else did. */
export interface DecidedCall extends CallDecision {
  decision: RuleDecision;
  policyVersion: number;
  /** One sentence for people. */
  reason: string;
  considered: ConsideredRule[];
}

interface Match {
  rule: StandingRule;
  says: RuleDecision;
  /** True: a restricting rule could not be excluded, so a person is asked. */
  unsure: boolean;
}

const STRICTNESS: Readonly<Record<RuleDecision, number>> = { deny: 2, ask: 1, allow: 0 };
const BREADTH = { org: 0, owner: 1, agent: 2 } as const;

/**
 * Decides a call by the rules and the mode (domain, section 6). The most specific rule wins: first by scope, then by how much of
 * the tool's name it fixes, then one with conditions before one without. At equal specificity deny beats ask beats allow.
 * Mode `plan` denies every writing call that no rule denies already; without a rule reads go out and writes follow the mode.
 */
export function decideCall(policy: Policy, call: CallInQuestion): DecidedCall {
  const judged = policy.rules.map((rule) => ({ rule, found: judge(rule, call) }));
  const matches = judged.flatMap(({ found }) => (typeof found === 'string' ? [] : [found]));
  const winner = matches.toSorted(moreSpecific)[0];
  const outcome = outcomeOf(winner, call);
  const decisive = outcome.ruleId === null ? undefined : winner?.rule;
  const considered = judged.map(({ rule, found }) => consideredRule(rule, found, decisive));
  return { ...outcome, policyVersion: policy.version, considered };
}

/** A match, or why there is none. */
function judge(rule: StandingRule, call: CallInQuestion): Match | string {
  const aside = asideFor(rule, call);
  if (aside) return aside;
  const stance: Stance = rule.decision === 'allow' ? 'strict' : 'wary';
  const held = rule.conditions.map((condition) => conditionHolds(condition, call.arguments, stance));
  const whole: Certainty = allOf(held);
  if (whole === 'yes') return { rule, says: rule.decision, unsure: false };
  if (whole === 'unknown' && stance === 'wary') return { rule, says: 'ask', unsure: true };
  const failed = rule.conditions.find((_, at) => held[at] !== 'yes');
  return failed ? `the arguments do not meet: ${conditionText(failed)}` : 'the arguments do not match';
}

function asideFor({ scope, tool, expiresAt }: StandingRule, call: CallInQuestion): string | undefined {
  if (expiresAt !== null && expiresAt <= call.now) return 'it has expired';
  if (scope.kind === 'agent' && scope.agentId !== call.agentId) return `it is for agent ${scope.agentId}`;
  if (scope.kind === 'owner' && scope.ownerId !== call.ownerId)
    return 'it is for the agents of another owner';
  return globMatches(tool, call.tool) ? undefined : `it is for tool ${tool}`;
}

function moreSpecific(left: Match, right: Match): number {
  const [l, r] = [rankOf(left.rule), rankOf(right.rule)];
  const at = l.findIndex((part, index) => part !== r[index]);
  if (at >= 0) return (r[at] ?? 0) - (l[at] ?? 0);
  // What is left is only to have one order for ever.
  return STRICTNESS[right.says] - STRICTNESS[left.says] || left.rule.addedAt - right.rule.addedAt;
}

const rankOf = ({ scope, tool, conditions }: StandingRule): number[] => [
  BREADTH[scope.kind],
  exactness(tool),
  conditions.length > 0 ? 1 : 0,
];

type Outcome = Omit<DecidedCall, 'considered' | 'policyVersion'>;

function outcomeOf(winner: Match | undefined, call: CallInQuestion): Outcome {
  const { mode, effect, tool } = call;
  const planned = mode === 'plan' && effect === 'write';
  if (!winner || (planned && winner.says !== 'deny')) return byMode(mode, effect, tool);
  const { rule, says, unsure } = winner;
  const groupKey = rule.groupKey === null ? null : groupKeyOf(rule.groupKey, call.arguments);
  const reason = unsure
    ? `Rule ${rule.ruleId} (${rule.decision}) cannot be excluded for these arguments, so a person is asked.`
    : `Rule ${rule.ruleId} says ${says}.`;
  return { decision: says, decidedBy: `rule:${rule.ruleId}`, ruleId: rule.ruleId, groupKey, reason };
}

function byMode(mode: Mode, effect: 'read' | 'write', tool: string): Outcome {
  const none = { ruleId: null, groupKey: null };
  if (effect === 'read')
    return {
      ...none,
      decision: 'allow',
      decidedBy: 'system:reads',
      reason: 'A tool that only reads needs no decision.',
    };
  const decidedBy = `mode:${mode}`;
  if (mode === 'plan')
    return { ...none, decision: 'deny', decidedBy, reason: 'Mode plan denies every tool that writes.' };
  if (mode === 'auto')
    return {
      ...none,
      decision: 'allow',
      decidedBy,
      reason: 'No rule speaks, and mode auto lets tools write.',
    };
  const reason = 'No rule speaks, and mode ask puts every tool that writes to a person.';
  // Without a rule a run's calls of one tool are a group, so that a reviewer need not answer each of them.
  return { decision: 'ask', decidedBy, ruleId: null, groupKey: `tool:${tool}`, reason };
}

function consideredRule(
  rule: StandingRule,
  found: Match | string,
  decisive: StandingRule | undefined,
): ConsideredRule {
  const { ruleId } = rule;
  if (typeof found === 'string') return { ruleId, result: 'not_matched', says: null, why: found };
  const { says, unsure } = found;
  const matches = unsure ? 'it cannot be excluded' : 'it matches';
  if (rule === decisive) return { ruleId, result: 'won', says, why: `${matches} and is the most specific` };
  const why = decisive ? beatenBy(rule, decisive) : 'mode plan denies whatever writes';
  return { ruleId, result: 'outranked', says, why: `${matches}, but ${why}` };
}

function beatenBy(rule: StandingRule, decisive: StandingRule): string {
  const equal = rankOf(rule).every((part, at) => part === rankOf(decisive)[at]);
  return `rule ${decisive.ruleId} is ${equal ? 'as specific and stricter or older' : 'more specific'}`;
}

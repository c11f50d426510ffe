import type { FieldError } from '../problems';
import type { Json, JsonObject } from '../json';
import { conditionHolds, conditionText, valueAt } from './argument-condition';
import { parseCommandLine } from './command-line';
import { globMatches } from './globs';
import { templateRefusal } from './group-key';
import { plainPath } from './path-condition';
import type { ArgumentCondition, PermissionRule } from './permission.events';
import { plainHost } from './url-condition';

/** What a catalogue tells of a tool, as far as rules ask. */
export interface KnownTool {
  name: string;
  inputSchema: JsonObject;
}

/**
 * Why a rule could never match anything, place by place; empty: it may. A rule that looks as if it held and never does is the
 * most dangerous one. `tools`: those that the org has; null: not at hand.
 */
export function ruleRefusals(
  rule: Omit<PermissionRule, 'ruleId'>,
  now: number,
  tools: readonly KnownTool[] | null,
): FieldError[] {
  const found = rule.conditions.flatMap((condition, at) =>
    conditionRefusals(condition).map((detail) => ({ pointer: `/conditions/${at}`, detail })),
  );
  if (rule.expiresAt !== null && rule.expiresAt <= now)
    found.push({ pointer: '/expires_at', detail: 'is over already; the rule would never hold' });
  const template = rule.groupKey === null ? undefined : templateRefusal(rule.groupKey);
  if (template) found.push({ pointer: '/group_key', detail: template });
  return [...found, ...contradictions(rule.conditions), ...(tools ? unknownTools(rule, tools) : [])];
}

function conditionRefusals(condition: ArgumentCondition): string[] {
  switch (condition.is) {
    case 'command':
      return condition.patterns.flatMap(patternRefusals);
    case 'path_within':
      return condition.directories.flatMap(directoryRefusals);
    case 'url':
      return condition.hosts.flatMap((host) =>
        host === '*' || plainHost(host.replace(/^\*\./, ''))
          ? []
          : [`${host} is no host name; give one without scheme, port or path`],
      );
    default:
      return [];
  }
}

function patternRefusals(pattern: string): string[] {
  const { commands, opaque } = parseCommandLine(pattern);
  const [only] = commands;
  if (opaque || !only || commands.length > 1 || only.assignments || only.redirected)
    return [`"${pattern}" is more than one plain command; each command of a line is matched by itself`];
  return pattern.split(/\s+/).filter((word) => word === '**').length > 2
    ? [`"${pattern}" may hold "**" twice at most`]
    : [];
}

const directoryRefusals = (directory: string): string[] =>
  /[\\$*?~\p{Cc}]/u.test(directory) || plainPath(directory).up > 0
    ? [`${directory} must be a plain directory, without patterns, variables or steps above its start`]
    : [];

/** Conditions on one place that no value meets together. */
function contradictions(conditions: readonly ArgumentCondition[]): FieldError[] {
  return conditions.flatMap((condition, at) => {
    const rival = conditions.slice(0, at).find((other) => excludes(other, condition));
    if (!rival) return [];
    const detail = `contradicts "${conditionText(rival)}"; no call could meet both`;
    return [{ pointer: `/conditions/${at}`, detail }];
  });
}

function excludes(left: ArgumentCondition, right: ArgumentCondition): boolean {
  const absent = [left, right].find(({ is }) => is === 'absent');
  if (absent) {
    const other = absent === left ? right : left;
    return other.is !== 'absent' && (other.at === absent.at || other.at.startsWith(`${absent.at}/`));
  }
  if (left.is === 'at_least' && right.is === 'at_most' && left.at === right.at)
    return left.value > right.value;
  if (left.is === 'at_most' && right.is === 'at_least') return excludes(right, left);
  return fixedExcludes(left, right) || fixedExcludes(right, left);
}

/** Whether every value that `fixed` permits fails `other`, on the same place or on one inside. */
function fixedExcludes(fixed: ArgumentCondition, other: ArgumentCondition): boolean {
  const inside = other.at === fixed.at || other.at.startsWith(`${fixed.at}/`);
  if (!inside || (fixed.is !== 'equals' && fixed.is !== 'one_of')) return false;
  const permitted: Json[] = fixed.is === 'equals' ? [fixed.value] : fixed.values;
  const moved = { ...other, at: other.at.slice(fixed.at.length) };
  return permitted.every((value) => conditionHolds(moved, value, 'wary') === 'no');
}

function unknownTools(rule: Omit<PermissionRule, 'ruleId'>, tools: readonly KnownTool[]): FieldError[] {
  const meant = tools.filter(({ name }) => globMatches(rule.tool, name));
  if (meant.length === 0)
    return [{ pointer: '/tool', detail: `no tool is called ${rule.tool}; the rule would match nothing` }];
  return rule.conditions.flatMap((condition, at) =>
    condition.is === 'absent' || meant.some(({ inputSchema }) => mayHold(inputSchema, condition.at))
      ? []
      : [{ pointer: `/conditions/${at}`, detail: `no such tool takes an argument at ${condition.at}` }],
  );
}

/** Whether a closed schema has room for the first step of a pointer; deeper ones are left to the call. */
function mayHold(schema: JsonObject, pointer: string): boolean {
  const first = pointer.split('/')[1];
  if (first === undefined || schema['additionalProperties'] !== false) return true;
  return valueAt(schema, `/properties/${first}`) !== undefined || schema['patternProperties'] !== undefined;
}

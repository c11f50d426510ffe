import type { Json } from '../json';
import type { Certainty, Stance } from './certainty';
import { joined } from './certainty';
import { commandMatches } from './command-condition';
import { globMatches } from './globs';
import { pathMatches } from './path-condition';
import type { ArgumentCondition } from './permission.events';
import { urlMatches } from './url-condition';

/** The value at a JSON Pointer (RFC 6901); undefined: there is none. */
export function valueAt(value: Json | undefined, pointer: string): Json | undefined {
  let here = value;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(here)) here = /^(0|[1-9]\d*)$/.test(key) ? here[Number(key)] : undefined;
    else if (typeof here === 'object' && here !== null)
      here = Object.hasOwn(here, key) ? here[key] : undefined;
    else return undefined;
  }
  return here;
}

/** Equal as JSON: the order of members does not count. */
export function sameJson(left: Json | undefined, right: Json | undefined): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || !left || !right) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const [first, second] = [new Map(Object.entries(left)), new Map(Object.entries(right))];
  return (
    first.size === second.size &&
    [...first].every(([key, value]) => second.has(key) && sameJson(value, second.get(key)))
  );
}

/** Whether a condition holds for a call's arguments. */
export function conditionHolds(condition: ArgumentCondition, given: Json, stance: Stance): Certainty {
  const value = valueAt(given, condition.at);
  if (condition.is === 'present') return value === undefined ? 'no' : 'yes';
  if (condition.is === 'absent') return value === undefined ? 'yes' : 'no';
  return value === undefined ? 'no' : valueHolds(condition, value, stance);
}

function valueHolds(condition: ArgumentCondition, value: Json, stance: Stance): Certainty {
  switch (condition.is) {
    case 'equals':
      return sure(sameJson(value, condition.value));
    case 'one_of':
      return sure(condition.values.some((one) => sameJson(value, one)));
    case 'at_least':
      return number(value, stance, (found) => found >= condition.value);
    case 'at_most':
      return number(value, stance, (found) => found <= condition.value);
    case 'command':
      return commandMatches(value, condition.patterns, stance);
    case 'like':
      return each(value, stance, (text) => like(condition.pattern, text, stance));
    case 'path_within':
      return each(value, stance, (text) => pathMatches(text, condition.directories, stance));
    case 'url':
      return each(value, stance, (text) => urlMatches(text, condition, stance));
    default:
      return 'no';
  }
}

const sure = (holds: boolean): Certainty => (holds ? 'yes' : 'no');

/** A number in a text is a number to many tools, and none to this rule: a rule that restricts is wary of it. */
function number(value: Json, stance: Stance, holds: (found: number) => boolean): Certainty {
  if (typeof value === 'number') return sure(holds(value));
  return stance === 'strict' ? 'no' : 'unknown';
}

function like(pattern: string, value: Json, stance: Stance): Certainty {
  if (typeof value === 'string') return sure(globMatches(pattern, value));
  return stance === 'strict' ? 'no' : 'unknown';
}

/** A list of texts is judged text by text. */
function each(value: Json, stance: Stance, judge: (one: Json) => Certainty): Certainty {
  return Array.isArray(value) ? joined(stance, value.map(judge)) : judge(value);
}

/** A condition in words, for the explanation of a decision. */
export function conditionText(condition: ArgumentCondition): string {
  const { at, is, ...rest } = condition;
  const wished = Object.values(rest).map((value) => JSON.stringify(value));
  return [at === '' ? 'the arguments' : at, is.replaceAll('_', ' '), ...wished].join(' ');
}

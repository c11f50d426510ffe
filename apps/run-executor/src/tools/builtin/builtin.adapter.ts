import type { Json, JsonObject } from '@runyard/contracts';
import { misconfigured, succeeded, toolError } from '../outcomes';
import type { ToolCall, ToolResult } from '../types';
import { calculate } from './arithmetic';
import { currentTime, dateDifference } from './calendar';
import { ArithmeticError } from './decimal';
import { jsonQuery } from './json-query';
import { textStatistics } from './text-statistics';
import { UserError } from './user.errors';

type Builtin = (given: JsonObject, now: () => number) => string;

const BUILTINS: Readonly<Record<string, Builtin>> = {
  calculate: (given) => calculate(text(given['expression'])),
  current_time: (given, now) => currentTime(now(), optional(given['time_zone'])),
  date_difference: (given) => dateDifference(text(given['from']), text(given['to'])),
  json_query: (given) => jsonQuery(text(given['json']), text(given['pointer']), given['keys_only'] === true),
  text_statistics: (given) => textStatistics(text(given['text'])),
  hand_off: (given) => text(given['summary']),
};

/** Carries out the tools of `builtin-tools.ts`: in this process, without network, each in milliseconds. */
export function runBuiltin(call: ToolCall, name: string, now: () => number): ToolResult {
  const tool = Object.hasOwn(BUILTINS, name) ? BUILTINS[name] : undefined;
  if (!tool)
    return misconfigured(
      `There is no builtin tool "${name}" in this version; an administrator must correct "${call.tool.name}".`,
    );
  try {
    return succeeded(tool(call.arguments, now));
  } catch (error) {
    if (error instanceof UserError || error instanceof ArithmeticError)
      return toolError(`Error: ${error.message}`);
    throw error;
  }
}

// The schema has been checked; a catalogue row whose schema was loosened must still not break anything.
const text = (value: Json | undefined): string => {
  if (typeof value === 'string') return value;
  if (value === undefined) throw new UserError('a required argument is missing');
  return JSON.stringify(value);
};
const optional = (value: Json | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;

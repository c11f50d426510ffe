import type { Json, JsonObject, ToolDefinition } from '@runyard/contracts';
import { digestOf } from '@runyard/event-log';
import { describeErrors } from './argument-errors';
import { argumentCheck } from './argument-schemas';
import { endOf } from './json-end';
import { reasonOf } from './outcomes';
import { wellFormed } from './text';
import type { ParsedArguments } from './types';

/** Longest raw arguments of one call, in bytes of UTF-8. Larger content belongs behind a reference. */
export const MAX_ARGUMENT_BYTES = 1024 * 1024;
/** Deeper values would overflow the stack of what walks them later. */
export const MAX_ARGUMENT_DEPTH = 100;

/**
 * Reads what a model sent as a call's arguments. Strict: nothing is repaired, because rule, approval and tool must see
 * the very same value (C25, C30). Blank means `{}` (C17). Refusals are texts for the model that say what to change, equal
 * for equal faults, so that a caller can count repetitions.
 *
 * `cutOff`: the answer ended at the output limit (finish `length`) and this is its last call; then nothing of it is to be
 * trusted, not even what parses (a router may have closed the brackets).
 */
export function parseArguments(
  raw: string | null | undefined,
  tool: ToolDefinition,
  cutOff = false,
): ParsedArguments {
  if (cutOff) return truncated(tool);
  const text = raw ?? '';
  if (text.trim() === '') return validated({}, tool);
  if (Buffer.byteLength(text) > MAX_ARGUMENT_BYTES)
    return invalid(tool, `they are longer than ${MAX_ARGUMENT_BYTES} bytes`);
  const { depth, open } = endOf(text);
  if (depth > MAX_ARGUMENT_DEPTH)
    return invalid(tool, `they are nested deeper than ${MAX_ARGUMENT_DEPTH} levels`);
  const parsed = parse(text);
  if (!parsed.ok) return open ? truncated(tool) : invalid(tool, `they are not valid JSON (${parsed.reason})`);
  if (!isObject(parsed.value))
    return invalid(tool, `they must be one JSON object, not ${kindOf(parsed.value)}`);
  return validated(parsed.value, tool);
}

function validated(value: JsonObject, tool: ToolDefinition): ParsedArguments {
  const check = argumentCheck(tool.inputSchema);
  if (!check.ok) return misconfigured(tool, check.reason);
  try {
    const errors = check.validate(value);
    if (errors.length > 0) return invalid(tool, `\n${describeErrors(errors)}`);
  } catch (error) {
    // A schema that compiles may still fail as it runs (endless recursion).
    return misconfigured(tool, reasonOf(error));
  }
  try {
    return { ok: true, value, digest: digestOf(value) };
  } catch {
    // JSON can write 1e999, but nothing can hold it.
    return invalid(tool, 'they hold a number that is too large');
  }
}

type Parsed = { ok: true; value: Json } | { ok: false; reason: string };

function parse(text: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(text) as Json };
  } catch (error) {
    return { ok: false, reason: reasonOf(error) };
  }
}

const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const kindOf = (value: Json): string =>
  value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`;

const invalid = (tool: ToolDefinition, fault: string): ParsedArguments => ({
  ok: false,
  code: 'invalid_arguments',
  text: wellFormed(
    `Error: the arguments of ${tool.name} were refused and nothing was done: ${fault}`.replace(': \n', ':\n'),
  ),
});

const truncated = (tool: ToolDefinition): ParsedArguments => ({
  ok: false,
  code: 'truncated_arguments',
  text: wellFormed(
    `Error: the call of ${tool.name} was cut off before it was complete, and nothing was done. Send less at once: ` +
      'shorten the arguments or split the work into several smaller calls.',
  ),
});

const misconfigured = (tool: ToolDefinition, reason: string): ParsedArguments => ({
  ok: false,
  code: 'misconfigured',
  text: wellFormed(
    `Error: the tool ${tool.name} is set up wrongly (its input schema: ${reason}). This is not your fault; go on without it.`,
  ),
});

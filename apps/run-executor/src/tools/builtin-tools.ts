import type { Json, JsonObject, ToolDefinition } from '@runyard/contracts';

/**
 * The tools that come with Runyard, as plain data: a registry seeds its catalogue with them without loading what carries
 * them out. All are reading and idempotent, so they run in every mode and may be repeated after a crash.
 */
export const BUILTIN_TOOLS: readonly ToolDefinition[] = [
  builtin(
    'calculate',
    'Works out an arithmetic expression exactly, e.g. "(19.99 * 3 + 4.5) / 2" or "round(2 ** 0.5, 4)". Knows + - * / % ** and ' +
      'brackets, the comparisons < <= > >= == !=, the constants pi and e, and the functions abs, sqrt, floor, ceil, trunc, ' +
      'round(x, places), min, max, sum, mean, exp, ln, log10, log2, sin, cos, tan (radians). Decimals are exact; a result that ' +
      'had to be rounded says so.',
    { expression: text('The expression, numbers only.', { maxLength: 2_000 }) },
    ['expression'],
  ),
  builtin(
    'current_time',
    'Says what time and date it is now, in UTC and in one time zone, with the day of the week.',
    { time_zone: text('IANA name of the time zone, e.g. "Europe/Berlin". Default: "UTC".') },
    [],
  ),
  builtin(
    'date_difference',
    'Counts the days, weeks and weekdays (Monday to Friday) from one calendar date to another.',
    {
      from: text('First date, YYYY-MM-DD.', { pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
      to: text('Second date, YYYY-MM-DD; may be earlier than the first.', {
        pattern: '^\\d{4}-\\d{2}-\\d{2}$',
      }),
    },
    ['from', 'to'],
  ),
  builtin(
    'json_query',
    'Takes one value out of a JSON text by its JSON Pointer, e.g. pointer "/items/0/price". An empty pointer is the whole ' +
      'document. Of an object or array that is asked for with `keys_only`, only its keys or its length come back.',
    {
      json: text('The JSON text.'),
      pointer: text('JSON Pointer (RFC 6901): "" or a path of "/"-separated keys and array positions.'),
      keys_only: {
        type: 'boolean',
        description: 'Only the keys of an object, or the length of an array. Default: false.',
      },
    },
    ['json', 'pointer'],
  ),
  builtin(
    'text_statistics',
    'Counts the characters, words, sentences, lines and bytes of a text.',
    { text: text('The text to count.') },
    ['text'],
  ),
  {
    ...builtin(
      'hand_off',
      'Ends this run and hands over to a person. Use it when the task needs somebody who may do what you may not.',
      { summary: text('What was asked, what is done and what is left to do.', { minLength: 1 }) },
      ['summary'],
    ),
    endsRun: true,
  },
];

function builtin(
  name: string,
  description: string,
  properties: Record<string, Json>,
  required: string[],
): ToolDefinition {
  return {
    name,
    description,
    inputSchema: { type: 'object', properties, required, additionalProperties: false },
    effect: 'read',
    idempotent: true,
    source: { kind: 'builtin', name },
    timeoutMs: 10_000,
    endsRun: false,
  };
}

function text(description: string, rules: JsonObject = {}): JsonObject {
  return { type: 'string', description, ...rules };
}

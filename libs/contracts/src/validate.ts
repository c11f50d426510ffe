import { z } from 'zod';
import { Problem } from './problems';

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};
const UNITS: Readonly<Record<string, string>> = { string: ' characters', array: ' entries' };

/** What a field should be, where its schema has no words of its own. */
function wordsOf(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}`;
    case 'too_big':
      return `must be at most ${issue.maximum}${UNITS[issue.origin] ?? ''}`;
    case 'too_small':
      return `must be at least ${issue.minimum}${UNITS[issue.origin] ?? ''}`;
    case 'invalid_union':
      return issue.input === undefined ? 'is required' : 'has none of the forms that are allowed here';
    default:
      return undefined;
  }
}

/** Parses `value` or throws a Problem `invalid_request` that names each offending field and what it should be. */
export function parseWith<T extends z.ZodType>(schema: T, value: unknown, what = 'request'): z.output<T> {
  const result = schema.safeParse(value, { error: wordsOf });
  if (result.success) return result.data;
  const errors = result.error.issues.flatMap((issue) => {
    const at = issue.path
      .map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`)
      .join('');
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => ({
        pointer: `${at}/${key}`,
        detail: 'is not a known field; remove it',
      }));
    return [{ pointer: at || '/', detail: issue.message }];
  });
  const first = errors[0];
  throw new Problem('invalid_request', `The ${what} is not valid: ${first?.pointer} ${first?.detail}`, {
    errors,
  });
}

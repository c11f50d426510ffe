import { z } from 'zod';
import { Problem } from './problems';

/** Parses `value` or throws a Problem `invalid_request` that names each offending field and what it should be. */
export function parseWith<T extends z.ZodType>(schema: T, value: unknown, what = 'request'): z.output<T> {
  const result = schema.safeParse(value);
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

import { Problem, parseWith } from '@runyard/contracts';
import type { Caller } from '@runyard/contracts';
import type { z } from 'zod';
import type { Asker } from '../domain/rights';
import { storableText } from '../domain/storable-text';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Parses the input of a request; a text that could not be stored is refused with its field, save those named in `mended`. */
export function parsed<T extends z.ZodType>(
  schema: T,
  input: unknown,
  mended: readonly string[] = [],
): z.output<T> {
  for (const [field, value] of Object.entries(Object(input) as Record<string, unknown>))
    if (typeof value === 'string' && !mended.includes(field) && storableText(value).replaced > 0) {
      const detail = 'holds a NUL or an unpaired surrogate';
      throw new Problem('invalid_request', `The request is not valid: /${field} ${detail}`, {
        errors: [{ pointer: `/${field}`, detail }],
      });
    }
  return parseWith(schema, input);
}

export const askerOf = ({ userId, roles }: Caller): Asker => ({ userId, roles });

/** The caller's org. Throws `unauthenticated` for a caller without one. */
export function orgOf({ org }: Caller): string {
  if (!UUID.test(org)) throw new Problem('unauthenticated', 'The credential belongs to no organization');
  return org;
}

/** Whose rights a read goes by. Throws `forbidden` for a credential that stands for no person. */
export function readerOf({ userId }: Caller): string {
  if (userId !== null) return userId;
  throw new Problem('forbidden', 'Documents are read by people; the credential stands for an application');
}

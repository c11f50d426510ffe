import { Problem, parseWith } from '@runyard/contracts';
import type { Caller } from '@runyard/contracts';
import type { z } from 'zod';
import type { Asker } from '../domain/rights';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** NUL and halves of surrogate pairs: Postgres cannot store them, and no text of an author needs them. */
const UNSTORABLE = /\0|\p{Surrogate}/u;

/** Parses the input of a request; texts that could not be stored are refused with the field that holds them. */
export function parsed<T extends z.ZodType>(schema: T, input: unknown): z.output<T> {
  const pointer = unstorable(input, '');
  if (pointer !== undefined) {
    const errors = [{ pointer: pointer || '/', detail: 'holds a NUL or an unpaired surrogate' }];
    throw new Problem(
      'invalid_request',
      `The request is not valid: ${pointer} holds a NUL or an unpaired surrogate`,
      { errors },
    );
  }
  return parseWith(schema, input);
}

function unstorable(value: unknown, at: string): string | undefined {
  if (typeof value === 'string') return UNSTORABLE.test(value) ? at : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, member] of Object.entries(value)) {
    const found = UNSTORABLE.test(key) ? at : unstorable(member, `${at}/${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The caller as deciders see them. The gateway establishes who it is; parts of the platform call as `system:<part>`. */
export function askerOf(caller: Caller): Asker {
  return { userId: caller.userId, roles: caller.roles, system: caller.actor.startsWith('system:') };
}

/** The caller's org. Throws `unauthenticated` for a caller without one. */
export function orgOf(caller: Caller): string {
  if (!UUID.test(caller.org))
    throw new Problem('unauthenticated', 'The credential belongs to no organization');
  return caller.org;
}

/** Drops members that were not given, so that merging leaves what was there. */
export function given<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

/**
 * Ids that become tokens of a bus subject. Anything else could widen a subscription to other tenants
 * (`*`, `>`), shift tokens (`.`) or break the protocol line (white space), so it is refused before use.
 */
export const TOKEN = /^[A-Za-z0-9_-]{1,80}$/;

/** `an agent id`, `a run id`, as messages say it. */
export const withArticle = (what: string): string => `${/^[aeiou]/i.test(what) ? 'an' : 'a'} ${what}`;

/** Thrown when an id cannot be a subject token; `field` names the offending id. */
export class InvalidToken extends Error {
  constructor(readonly field: string) {
    super(`${field} must be 1 to 80 characters out of A-Z, a-z, 0-9, "_" and "-"`);
  }
}

/** Returns `value` unchanged, or throws {@link InvalidToken}. */
export function token(field: string, value: string): string {
  if (!TOKEN.test(value)) throw new InvalidToken(field);
  return value;
}

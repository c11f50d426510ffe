/** Whether something matches. `unknown`: it cannot be excluded, since a shell, a working directory or a variable decides. */
export type Certainty = 'yes' | 'no' | 'unknown';

/** `yes` as soon as one is, else `unknown` as soon as one is. Of nothing: no. */
export function anyOf(found: readonly Certainty[]): Certainty {
  if (found.includes('yes')) return 'yes';
  return found.includes('unknown') ? 'unknown' : 'no';
}

/** `no` as soon as one is, else `unknown` as soon as one is. Of nothing: yes. */
export function allOf(found: readonly Certainty[]): Certainty {
  if (found.includes('no')) return 'no';
  return found.includes('unknown') ? 'unknown' : 'yes';
}

/**
 * How a rule looks at what it cannot see through. `strict`, for rules that allow: all must match for certain. `wary`, for rules
 * that deny or ask: one match is enough, and what cannot be excluded is said to be unknown.
 */
export type Stance = 'strict' | 'wary';

/** Joins what was found for several parts of one value: all of them for a rule that allows, any for one that restricts. */
export const joined = (stance: Stance, found: readonly Certainty[]): Certainty => {
  if (stance === 'wary') return anyOf(found);
  return found.length > 0 && found.every((one) => one === 'yes') ? 'yes' : 'no';
};

import type { Caller } from '@runyard/contracts';

const OVERSEERS = new Set(['admin', 'operator']);

/** Admins and operators see all of their org (domain, section 1). */
export const seesAll = (caller: Caller): boolean => caller.roles.some((role) => OVERSEERS.has(role));

/**
 * Which rows of its org a caller sees, as a condition on `agent_runs a`: runs on one's own behalf, runs that one asked for
 * (keys of applications have no person behind them), and for reviewers the runs that ask. `parameter` adds a value and
 * returns its placeholder.
 */
export function visibleTo(caller: Caller, parameter: (value: unknown) => string): string {
  if (seesAll(caller)) return 'true';
  const conditions = [`a.requested_by = ${parameter(caller.actor)}`];
  if (caller.userId !== null) conditions.push(`a.user_id = ${parameter(caller.userId)}::uuid`);
  if (caller.roles.includes('reviewer')) conditions.push(`a.state = 'awaiting_approval'`);
  return `(${conditions.join(' OR ')})`;
}

/** Collects the parameters of a statement that is put together. */
export class Parameters {
  readonly values: unknown[] = [];
  readonly add = (value: unknown): string => `$${this.values.push(value)}`;
}

import { Problem } from '@runyard/contracts';
import type { Role, RuleDecision, RuleScope } from '@runyard/contracts';

/** Who asks, as deciders need to know it; from the credential alone. */
export interface Asker {
  userId: string | null;
  roles: readonly Role[];
}

/** Reviewers, admins and operators see what anybody's agents ask; members what their own do. */
export const seesAll = ({ roles }: Asker): boolean =>
  roles.some((role) => role === 'reviewer' || role === 'admin' || role === 'operator');

export const mayReview = ({ roles }: Asker): boolean =>
  roles.some((role) => role === 'reviewer' || role === 'admin');

/** Throws `forbidden` for whoever may not decide approvals: it takes a person, and one with the role. */
export function requireReviewer(asker: Asker): void {
  if (!mayReview(asker))
    throw new Problem('forbidden', 'Only a reviewer or an admin may decide approvals', {
      required_role: 'reviewer',
    });
  if (asker.userId === null)
    throw new Problem(
      'forbidden',
      'The credential stands for an application; approvals are decided by people',
    );
}

/** Throws `forbidden` for callers who may not see what a run of `ownerId` asks. */
export function requireSight(asker: Asker, ownerId: string, what: string): void {
  if (seesAll(asker) || asker.userId === ownerId) return;
  throw new Problem('forbidden', `${what} belongs to somebody else; its owner or a reviewer may see it`, {
    required_role: 'reviewer',
  });
}

/**
 * Who may make a rule of a kind. Admins any; reviewers for agents and owners, as they may decide their approvals; owners only
 * what tightens their own agents, since a rule of theirs that allows, or merely asks, could outrank the org's.
 * `ownerId`: whose agents the rule is for; null where the scope is the org.
 */
export function requireRuleRight(
  asker: Asker,
  scope: RuleScope['kind'],
  ownerId: string | null,
  decision: RuleDecision,
): void {
  if (asker.roles.includes('admin')) return;
  if (scope === 'org')
    throw new Problem('forbidden', 'Only an admin may change rules of the whole organization', {
      required_role: 'admin',
    });
  if (mayReview(asker)) return;
  const own = asker.userId !== null && asker.userId === ownerId;
  if (own && decision === 'deny') return;
  throw new Problem(
    'forbidden',
    own
      ? 'Owners may only deny for their own agents; a reviewer or an admin may allow and ask'
      : 'The agents belong to somebody else; a reviewer or an admin may make rules for them',
    { required_role: 'reviewer' },
  );
}

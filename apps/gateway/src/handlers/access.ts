import { ROLES } from '@runyard/contracts';
import type { Role } from '@runyard/contracts';

// Who may come through the door at all (domain, section 1). Whose things they may then see or change is decided by the
// service that has them.

export const ANYBODY: readonly Role[] = ROLES;
/** Own agents, runs and conversations. */
export const OWNERS: readonly Role[] = ['member', 'admin'];
export const STARTERS: readonly Role[] = ['member', 'admin', 'service'];
export const ADMINS: readonly Role[] = ['admin'];
/** Decide approvals. */
export const REVIEWERS: readonly Role[] = ['reviewer', 'admin'];
/** See all of the org. */
export const OVERSEERS: readonly Role[] = ['admin', 'operator'];
/** People, as opposed to keys of applications. */
export const PEOPLE: readonly Role[] = ['member', 'reviewer', 'admin', 'operator'];

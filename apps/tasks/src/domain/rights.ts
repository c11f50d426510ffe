import { Problem } from '@runyard/contracts';
import type { Role } from '@runyard/contracts';

/** Who asks, as deciders need to know it. */
export interface Asker {
  actor: string;
  userId: string | null;
  roles: readonly Role[];
}

const has = ({ roles }: Asker, role: Role): boolean => roles.includes(role);

/** Admins and operators see all tasks of the org, services work on them; others see their own (domain, section 1). */
export const seesAll = (asker: Asker): boolean =>
  has(asker, 'admin') || has(asker, 'operator') || has(asker, 'service');

const isOwn = ({ userId }: Asker, ownerId: string | null): boolean => userId !== null && userId === ownerId;

/** Throws `forbidden` for callers who may not see the task of `ownerId`. */
export function requireSight(asker: Asker, ownerId: string | null): void {
  if (seesAll(asker) || isOwn(asker, ownerId)) return;
  throw new Problem(
    'forbidden',
    'The task belongs to somebody else; its owner, an admin or an operator may see it',
    {
      required_role: 'operator',
    },
  );
}

/** Throws `forbidden` for callers who may not work on the task of `ownerId`. */
export function requireWork(asker: Asker, ownerId: string | null): void {
  if (has(asker, 'admin') || has(asker, 'service') || isOwn(asker, ownerId)) return;
  throw new Problem(
    'forbidden',
    'The task belongs to somebody else; only its owner, an admin or a service may work on it',
    {
      required_role: 'admin',
    },
  );
}

/** Whose agent may work on one's tasks: one's own, and any for admins and services, as with runs. */
export function requireAgent(asker: Asker, ownerId: string): void {
  if (has(asker, 'admin') || has(asker, 'service') || isOwn(asker, ownerId)) return;
  throw new Problem(
    'forbidden',
    'The agent belongs to somebody else; only its owner, an admin or a service may give it tasks',
    {
      required_role: 'admin',
    },
  );
}

export const mayBreakLocks = (asker: Asker): boolean => has(asker, 'admin');

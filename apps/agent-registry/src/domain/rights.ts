import { Problem } from '@runyard/contracts';
import type { Role } from '@runyard/contracts';

/** Who asks, as deciders need to know it. `system` is a part of the platform: a reaction, or the installation. */
export interface Asker {
  userId: string | null;
  roles: readonly Role[];
  system?: boolean;
}

export const SYSTEM: Asker = { userId: null, roles: [], system: true };

const has = (asker: Asker, role: Role): boolean => asker.system === true || asker.roles.includes(role);

/** Admins and operators see all of the org, others their own (domain, section 1). */
export const seesAll = (asker: Asker): boolean => has(asker, 'admin') || has(asker, 'operator');

export const isOwner = (asker: Asker, ownerId: string): boolean =>
  asker.userId !== null && asker.userId === ownerId;

/** Throws `forbidden` for everybody but admins. `what` completes "Only an admin may …". */
export function requireAdmin(asker: Asker, what: string): void {
  if (!has(asker, 'admin'))
    throw new Problem('forbidden', `Only an admin may ${what}`, { required_role: 'admin' });
}

/** Throws `forbidden` for callers who may not see what belongs to `ownerId`; null: it belongs to nobody in particular. */
export function requireSight(asker: Asker, ownerId: string | null, what: string): void {
  if (seesAll(asker) || (ownerId !== null && isOwner(asker, ownerId))) return;
  const message =
    ownerId === null
      ? `${what} is for admins and operators`
      : `${what} belongs to somebody else; its owner, an admin or an operator may see it`;
  throw new Problem('forbidden', message, { required_role: 'operator' });
}

/** Throws `forbidden` for callers who may neither own nor administer. */
export function requireOwnerOrAdmin(asker: Asker, ownerId: string, what: string): void {
  if (has(asker, 'admin') || isOwner(asker, ownerId)) return;
  throw new Problem(
    'forbidden',
    `${what} belongs to somebody else; only its owner or an admin may change it`,
    {
      required_role: 'admin',
    },
  );
}

/** The owner's own switch: an admin has the lock instead. */
export function requireOwner(asker: Asker, ownerId: string): void {
  if (asker.system || isOwner(asker, ownerId)) return;
  throw new Problem('forbidden', "The switch is the owner's alone; an admin locks the agent instead", {
    required: 'owner',
  });
}

import { Problem } from '@runyard/contracts';
import type { Role } from '@runyard/contracts';

/** Who asks, as deciders need to know it. */
export interface Asker {
  userId: string | null;
  roles: readonly Role[];
}

const isAdmin = ({ roles }: Asker): boolean => roles.includes('admin');

/** Admins and operators see all of the org (domain, section 1). Tools never do: they read as the agent's owner. */
export const seesAll = (asker: Asker): boolean => isAdmin(asker) || asker.roles.includes('operator');

/** Throws `forbidden` for everybody but admins. `what` completes "Only an admin may …". */
export function requireAdmin(asker: Asker, what: string): void {
  if (!isAdmin(asker))
    throw new Problem('forbidden', `Only an admin may ${what}`, { required_role: 'admin' });
}

/** Throws `forbidden` for whoever neither owns nor administers; a document of nobody is for admins. */
export function requireOwnerOrAdmin(asker: Asker, ownerId: string | null): void {
  if (isAdmin(asker) || (ownerId !== null && asker.userId === ownerId)) return;
  throw new Problem(
    'forbidden',
    'The document belongs to somebody else; only its owner or an admin may change it',
    { required_role: 'admin' },
  );
}

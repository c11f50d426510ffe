import { Problem } from '@runyard/contracts';
import type { Caller } from '@runyard/contracts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The caller's org. Throws `unauthenticated` for a caller without one. */
export function orgOf(caller: Caller): string {
  if (!UUID.test(caller.org))
    throw new Problem('unauthenticated', 'The credential belongs to no organization');
  return caller.org;
}

/** Reservations are made by the platform for its runs, never by people. */
export function requirePlatform(caller: Caller): void {
  if (caller.actor.startsWith('system:')) return;
  throw new Problem('forbidden', 'Only parts of the platform reserve and release budgets');
}

export function requireAdmin(caller: Caller): void {
  if (caller.roles.includes('admin') || caller.actor.startsWith('system:')) return;
  throw new Problem('forbidden', 'Only an admin may set caps', { required_role: 'admin' });
}

const seesAll = ({ roles, actor }: Caller): boolean =>
  roles.includes('admin') || roles.includes('operator') || actor.startsWith('system:');

/** Whose spend a caller may see: everybody's (null), or one owner's. Throws `forbidden` for another's. */
export function sightOf(caller: Caller, asked: string | undefined): string | null {
  if (seesAll(caller)) return asked ?? null;
  if (caller.userId === null)
    throw new Problem('forbidden', 'The credential stands for nobody who owns agents', {
      required_role: 'operator',
    });
  if (asked !== undefined && asked !== caller.userId)
    throw new Problem('forbidden', 'The budget belongs to somebody else; an admin or operator may see it', {
      required_role: 'operator',
    });
  return caller.userId;
}

import { Problem } from '@runyard/contracts';
import type {
  Role,
  UserAdded,
  UserDeactivated,
  UserDeleted,
  UserEdited,
  UserReactivated,
} from '@runyard/contracts';
import type { Decided } from './decision';
import { requireAdmin } from './rights';
import type { Asker } from './rights';
import { same } from './same';

export type UserEvent = UserAdded | UserEdited | UserDeactivated | UserReactivated | UserDeleted;
export type UserDecision = Decided<UserEvent>;

export interface Profile {
  email: string;
  name: string;
  timeZone: string | null;
  roles: Role[];
}

export interface ExistingUser {
  situation: 'active' | 'inactive';
  userId: string;
  profile: Profile;
  /** How often the user was deactivated: reactions to one of them must not undo what came after a return. */
  deactivations: number;
  createdAt: number;
}

/** An id is never given to a second person: what it once meant stays readable in the log. */
export type User = { situation: 'absent' } | ExistingUser | { situation: 'deleted' };

export const NO_USER: User = { situation: 'absent' };

export type UserCommand = { asker: Asker } & (
  | { type: 'AddUser'; userId: string; profile: Profile }
  | { type: 'EditUser'; changes: Partial<Profile> }
  | { type: 'DeactivateUser' }
  | { type: 'ReactivateUser' }
  | { type: 'DeleteUser' }
);

export function requireUser(user: User): ExistingUser {
  if (user.situation === 'absent' || user.situation === 'deleted')
    throw new Problem('not_found', 'There is no such user');
  return user;
}

export function evolveUser(user: User, event: UserEvent): User {
  if (event.type === 'UserAdded') {
    const { userId, ...profile } = event.data;
    return { situation: 'active', userId, profile, deactivations: 0, createdAt: event.time };
  }
  // What is left of a person who was erased is this event alone.
  if (event.type === 'UserDeleted') return { situation: 'deleted' };
  if (user.situation === 'absent' || user.situation === 'deleted') return user;
  switch (event.type) {
    case 'UserEdited': {
      const { userId: _same, ...profile } = event.data;
      return { ...user, profile };
    }
    case 'UserDeactivated':
      return { ...user, situation: 'inactive', deactivations: user.deactivations + 1 };
    case 'UserReactivated':
      return { ...user, situation: 'active' };
    default:
      return event satisfies never;
  }
}

export function decideUser(user: User, command: UserCommand): UserDecision[] {
  requireAdmin(command.asker, 'change the users of the organization');
  if (command.type === 'AddUser') return add(user, command.userId, command.profile);
  if (command.type === 'DeleteUser' && user.situation === 'deleted') return [];
  const { userId, situation, profile } = requireUser(user);
  switch (command.type) {
    case 'EditUser': {
      const next = { ...profile, ...command.changes };
      if (!next.roles.includes('admin') && profile.roles.includes('admin'))
        refuseOnOneself(command.asker, userId, 'take the role admin from themselves');
      return same(next, profile) ? [] : [{ type: 'UserEdited', data: { userId, ...next } }];
    }
    case 'DeactivateUser':
      refuseOnOneself(command.asker, userId, 'deactivate themselves');
      return situation === 'inactive' ? [] : [{ type: 'UserDeactivated', data: { userId } }];
    case 'ReactivateUser':
      return situation === 'active' ? [] : [{ type: 'UserReactivated', data: { userId } }];
    case 'DeleteUser':
      refuseOnOneself(command.asker, userId, 'delete themselves');
      return [{ type: 'UserDeleted', data: { userId } }];
    default:
      return command satisfies never;
  }
}

function add(user: User, userId: string, profile: Profile): UserDecision[] {
  if (user.situation === 'absent') return [{ type: 'UserAdded', data: { userId, ...profile } }];
  if (user.situation !== 'deleted' && same(user.profile, profile)) return [];
  throw new Problem('already_exists', 'This user id is taken; leave it out to get a new one');
}

/** So that the org keeps at least one admin: the one who acts. */
function refuseOnOneself(asker: Asker, userId: string, what: string): void {
  if (asker.userId === userId) throw new Problem('conflict', `Admins cannot ${what}; another admin can`);
}

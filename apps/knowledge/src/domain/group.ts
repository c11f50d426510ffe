import { Problem } from '@runyard/contracts';
import type { GroupEvent } from '@runyard/contracts';
import { requireAdmin } from './rights';
import type { Asker } from './rights';

export interface ExistingGroup {
  situation: 'existing';
  name: string;
  members: ReadonlySet<string>;
  createdAt: number;
}
export type Group = { situation: 'absent' | 'deleted' } | ExistingGroup;

export const NO_GROUP: Group = { situation: 'absent' };

/** Most members of a group: its log is folded whole before each decision. */
export const MOST_MEMBERS = 5_000;

export type GroupCommand = { asker: Asker } & (
  | { type: 'CreateGroup'; name: string }
  | { type: 'RenameGroup'; name: string }
  | { type: 'AddMember'; userId: string }
  | { type: 'RemoveMember'; userId: string }
  | { type: 'DeleteGroup' }
);

export type GroupDecision = GroupEvent extends infer E
  ? E extends GroupEvent
    ? Pick<E, 'type' | 'data'>
    : never
  : never;

export function requireGroup(group: Group): ExistingGroup {
  if (group.situation !== 'existing') throw new Problem('not_found', 'There is no such group');
  return group;
}

export function evolveGroup(group: Group, event: GroupEvent): Group {
  if (event.type === 'GroupCreated')
    return { situation: 'existing', name: event.data.name, members: new Set(), createdAt: event.time };
  if (event.type === 'GroupDeleted') return { situation: 'deleted' };
  if (group.situation !== 'existing') return group;
  switch (event.type) {
    case 'GroupRenamed':
      return { ...group, name: event.data.name };
    case 'GroupMemberAdded':
      return { ...group, members: new Set([...group.members, event.data.userId]) };
    case 'GroupMemberRemoved':
      return { ...group, members: new Set([...group.members].filter((id) => id !== event.data.userId)) };
    default:
      return event satisfies never;
  }
}

export function decideGroup(group: Group, command: GroupCommand): GroupDecision[] {
  requireAdmin(command.asker, 'change groups of readers');
  if (command.type === 'CreateGroup') return create(group, command.name);
  if (command.type === 'DeleteGroup' && group.situation === 'deleted') return [];
  const { name, members } = requireGroup(group);
  switch (command.type) {
    case 'RenameGroup':
      return command.name === name ? [] : [{ type: 'GroupRenamed', data: { name: command.name } }];
    case 'AddMember': {
      const { userId } = command;
      if (members.has(userId)) return [];
      if (members.size >= MOST_MEMBERS)
        throw new Problem('conflict', `A group has at most ${MOST_MEMBERS} members; make a second one`);
      return [{ type: 'GroupMemberAdded', data: { userId } }];
    }
    case 'RemoveMember': {
      const { userId } = command;
      return members.has(userId) ? [{ type: 'GroupMemberRemoved', data: { userId } }] : [];
    }
    case 'DeleteGroup':
      return [{ type: 'GroupDeleted', data: {} }];
    default:
      return command satisfies never;
  }
}

function create(group: Group, name: string): GroupDecision[] {
  if (group.situation === 'existing' && group.name === name) return [];
  if (group.situation !== 'absent')
    throw new Problem(
      'already_exists',
      group.situation === 'deleted'
        ? 'This id belonged to a group that was deleted, and documents may still name it; choose another id'
        : 'There is a group with this id already; choose another id',
    );
  return [{ type: 'GroupCreated', data: { name } }];
}

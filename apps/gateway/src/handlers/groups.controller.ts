import { Controller } from '@nestjs/common';
import {
  createGroupSchema,
  groupMemberSchema,
  groupRefSchema,
  listGroupsSchema,
  updateGroupSchema,
} from '@runyard/contracts';
import { Answer, FromRequest } from '../door/call';
import type { Call } from '../door/call';
import { Route } from '../door/route';
import type { RouteDeclaration } from '../door/route';
import { ADMINS, ANYBODY } from './access';
import { groupRow } from './knowledge-rows';
import { changeRow, pageOf } from './rows';
import { Services } from './services.adapter';

const tag = 'groups';
const group = { status: 200, description: 'The group as it is now', body: groupRow } as const;

/** Joining and leaving differ in a word. */
const membership = (method: 'PUT' | 'DELETE', name: string, summary: string): RouteDeclaration => ({
  method,
  path: '/v1/groups/:group_id/members/:user_id',
  name,
  tag,
  summary,
  access: ADMINS,
  input: groupMemberSchema,
  success: [group],
  problems: ['conflict'],
});

/** Groups of readers. Passed on to the knowledge service. */
@Controller()
export class GroupsController {
  constructor(private readonly services: Services) {}

  @Route({
    method: 'POST',
    path: '/v1/groups',
    name: 'groups.create',
    tag,
    summary: 'Create a group of readers',
    access: ADMINS,
    input: createGroupSchema,
    success: [{ ...group, status: 201 }],
    problems: ['already_exists', 'conflict'],
    idempotency: 'replayed',
  })
  async create(@FromRequest() call: Call<{ group_id: string }>): Promise<Answer> {
    const row = await this.services.knowledge(call, 'groups.create');
    return new Answer(row, { headers: { location: `/v1/groups/${call.input.group_id}` } });
  }

  @Route({
    method: 'GET',
    path: '/v1/groups',
    name: 'groups.list',
    tag,
    summary: 'List groups of readers',
    description: 'Members see those that they are in.',
    access: ANYBODY,
    input: listGroupsSchema,
    success: [{ status: 200, description: 'A page of groups', body: pageOf('GroupPage', groupRow) }],
    problems: ['invalid_cursor'],
  })
  list(@FromRequest() call: Call): Promise<unknown> {
    return this.services.knowledge(call, 'groups.list');
  }

  @Route({
    method: 'GET',
    path: '/v1/groups/:group_id',
    name: 'groups.get',
    tag,
    summary: 'Read a group',
    access: ANYBODY,
    input: groupRefSchema,
    success: [group],
  })
  get(@FromRequest() call: Call): Promise<unknown> {
    return this.services.knowledge(call, 'groups.get');
  }

  @Route({
    method: 'PATCH',
    path: '/v1/groups/:group_id',
    name: 'groups.update',
    tag,
    summary: 'Rename a group',
    access: ADMINS,
    input: updateGroupSchema,
    success: [group],
    problems: ['conflict'],
  })
  update(@FromRequest() call: Call): Promise<unknown> {
    return this.services.knowledge(call, 'groups.update');
  }

  @Route({
    method: 'DELETE',
    path: '/v1/groups/:group_id',
    name: 'groups.delete',
    tag,
    summary: 'Delete a group; what it was allowed to read, its members read no longer',
    access: ADMINS,
    input: groupRefSchema,
    success: [{ status: 200, description: 'Deleted', body: changeRow }],
  })
  remove(@FromRequest() call: Call): Promise<unknown> {
    return this.services.knowledge(call, 'groups.delete');
  }

  @Route(membership('PUT', 'groups.add_member', 'Take a person into a group'))
  add(@FromRequest() call: Call): Promise<unknown> {
    return this.services.knowledge(call, 'groups.add_member');
  }

  @Route(membership('DELETE', 'groups.remove_member', 'Take a person out of a group'))
  take(@FromRequest() call: Call): Promise<unknown> {
    return this.services.knowledge(call, 'groups.remove_member');
  }
}

import { Controller } from '@nestjs/common';
import {
  ROLES,
  addUserSchema,
  listUsersSchema,
  orgRefSchema,
  updateOrgSchema,
  updateUserSchema,
  userRefSchema,
} from '@runyard/contracts';
import { z } from 'zod';
import { Answer, FromRequest } from '../door/call';
import type { Call } from '../door/call';
import { Route } from '../door/route';
import type { RouteDeclaration } from '../door/route';
import { ADMINS, ANYBODY, OVERSEERS, PEOPLE } from './access';
import { changeRow, orgRow, pageOf, userRow } from './rows';
import { Services } from './services.adapter';

const org = { status: 200, description: 'The organization of the credential', body: orgRow } as const;
const user = { status: 200, description: 'The user as it is now', body: userRow } as const;
const me = z
  .object({
    org_id: z.uuid(),
    actor: z.string(),
    user_id: z.uuid().nullable(),
    roles: z.array(z.enum(ROLES)),
  })
  .meta({ id: 'Me' });
const userId = userRefSchema.omit({ at_least: true });

const turns = (word: string, summary: string): RouteDeclaration => ({
  method: 'POST',
  path: `/v1/users/:user_id/${word}`,
  name: `users.${word}`,
  tag: 'users',
  summary,
  access: ADMINS,
  input: userId,
  success: [user],
  idempotency: 'replayed',
});

/** The org of the credential and its users: passed on to the agent registry, which keeps the store of them. */
@Controller()
export class PeopleController {
  constructor(private readonly services: Services) {}

  @Route({
    method: 'GET',
    path: '/v1/me',
    name: 'me',
    tag: 'organization',
    summary: 'Read who the credential stands for',
    access: ANYBODY,
    input: z.strictObject({}),
    success: [{ status: 200, description: 'The caller', body: me }],
  })
  me(@FromRequest() { caller }: Call): z.infer<typeof me> {
    return { org_id: caller.org, actor: caller.actor, user_id: caller.userId, roles: caller.roles };
  }

  @Route({
    method: 'GET',
    path: '/v1/org',
    name: 'orgs.get',
    tag: 'organization',
    summary: 'Read the organization',
    access: ANYBODY,
    input: orgRefSchema,
    success: [org],
  })
  org(@FromRequest() call: Call): Promise<unknown> {
    return this.services.registry(call, 'orgs.get');
  }

  @Route({
    method: 'PATCH',
    path: '/v1/org',
    name: 'orgs.update',
    tag: 'organization',
    summary: 'Change name, time zone or retention of the organization',
    description:
      'With `retention_days` runs are deleted that many days after they began, within the hour; a task keeps what it copied until an operator sweeps. null keeps them for ever.',
    access: ADMINS,
    input: updateOrgSchema,
    success: [org],
  })
  updateOrg(@FromRequest() call: Call): Promise<unknown> {
    return this.services.registry(call, 'orgs.update');
  }

  @Route({
    method: 'GET',
    path: '/v1/users',
    name: 'users.list',
    tag: 'users',
    summary: 'List users by e-mail address',
    access: OVERSEERS,
    input: listUsersSchema,
    success: [{ status: 200, description: 'A page of users', body: pageOf('UserPage', userRow) }],
    problems: ['invalid_cursor'],
  })
  users(@FromRequest() call: Call): Promise<unknown> {
    return this.services.registry(call, 'users.list');
  }

  @Route({
    method: 'POST',
    path: '/v1/users',
    name: 'users.add',
    tag: 'users',
    summary: 'Add a user',
    access: ADMINS,
    input: addUserSchema,
    success: [{ ...user, status: 201 }],
    problems: ['already_exists', 'conflict'],
    idempotency: 'replayed',
  })
  async add(@FromRequest() call: Call): Promise<Answer> {
    const row = await this.services.registry<{ user_id?: string }>(call, 'users.add');
    return new Answer(row, row.user_id ? { headers: { location: `/v1/users/${row.user_id}` } } : {});
  }

  @Route({
    method: 'GET',
    path: '/v1/users/:user_id',
    name: 'users.get',
    tag: 'users',
    summary: 'Read a user',
    access: PEOPLE,
    input: userRefSchema,
    success: [user],
  })
  user(@FromRequest() call: Call): Promise<unknown> {
    return this.services.registry(call, 'users.get');
  }

  @Route({
    method: 'PATCH',
    path: '/v1/users/:user_id',
    name: 'users.update',
    tag: 'users',
    summary: 'Change a user',
    access: ADMINS,
    input: updateUserSchema,
    success: [user],
    problems: ['conflict'],
  })
  updateUser(@FromRequest() call: Call): Promise<unknown> {
    return this.services.registry(call, 'users.update');
  }

  @Route(turns('deactivate', 'Deactivate a user; their agents are switched off'))
  deactivate(@FromRequest() call: Call): Promise<unknown> {
    return this.services.registry(call, 'users.deactivate');
  }

  @Route(turns('reactivate', 'Reactivate a user; their agents stay off until they switch them on'))
  reactivate(@FromRequest() call: Call): Promise<unknown> {
    return this.services.registry(call, 'users.reactivate');
  }

  @Route({
    method: 'DELETE',
    path: '/v1/users/:user_id',
    name: 'users.delete',
    tag: 'users',
    summary: 'Delete a user and their agents, never their runs',
    access: ADMINS,
    input: userId,
    success: [{ status: 200, description: 'Deleted', body: changeRow }],
  })
  removeUser(@FromRequest() call: Call): Promise<unknown> {
    return this.services.registry(call, 'users.delete');
  }
}

import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import {
  Problem,
  addUserSchema,
  listUsersSchema,
  orgRefSchema,
  updateOrgSchema,
  updateUserSchema,
  userRefSchema,
} from '@runyard/contracts';
import type { Caller, OrgRow, UserRow } from '@runyard/contracts';
import type { Database } from '@runyard/persistence';
import { DATABASE, RpcMethod } from '@runyard/service';
import { requireOrganization } from '../domain/organization';
import { requireSight } from '../domain/rights';
import { requireUser } from '../domain/user';
import type { UserCommand } from '../domain/user';
import { emailTaken, findOrg, findUser, listUsers } from '../projections/people.queries';
import { peopleReached } from '../projections/positions.queries';
import { orgAnswer, userAnswer } from './people-answer';
import { RegistryLog } from './registry-log.adapter';
import { askerOf, given, orgOf, parsed } from './requests';

type UserAnswer = UserRow & { position: string };

/** RPC `orgs.get`, `orgs.update` and `users.*`. */
@Injectable()
export class PeopleController {
  constructor(
    @Inject(RegistryLog) private readonly registry: RegistryLog,
    @Inject(DATABASE) private readonly db: Database,
  ) {}

  @RpcMethod('orgs.get')
  async org(caller: Caller, body: unknown): Promise<OrgRow> {
    const { at_least: atLeast } = parsed(orgRefSchema, body);
    await peopleReached(this.db, atLeast);
    const row = await this.db.inOrg(orgOf(caller), findOrg);
    if (!row) throw new Problem('not_found', 'There is no such organization');
    return row;
  }

  @RpcMethod('orgs.update')
  async updateOrg(caller: Caller, body: unknown): Promise<OrgRow & { position: string }> {
    const { name, time_zone: timeZone, retention_days: retentionDays } = parsed(updateOrgSchema, body);
    const org = orgOf(caller);
    const command = {
      type: 'EditOrganization',
      asker: askerOf(caller),
      changes: given({ name, timeZone, retentionDays }),
    } as const;
    const { state, position } = await this.registry.act(this.registry.organization(org), command, caller);
    return { ...orgAnswer(org, requireOrganization(state)), position };
  }

  @RpcMethod('users.add')
  async add(caller: Caller, body: unknown): Promise<UserAnswer> {
    const { user_id: userId = randomUUID(), time_zone: timeZone, ...profile } = parsed(addUserSchema, body);
    await this.refuseTakenEmail(caller, profile.email, userId);
    return this.act(caller, userId, {
      type: 'AddUser',
      asker: askerOf(caller),
      userId,
      profile: { ...profile, timeZone },
    });
  }

  @RpcMethod('users.update')
  async update(caller: Caller, body: unknown): Promise<UserAnswer> {
    const { user_id: userId, email, name, roles, time_zone: timeZone } = parsed(updateUserSchema, body);
    if (email !== undefined) await this.refuseTakenEmail(caller, email, userId);
    return this.act(caller, userId, {
      type: 'EditUser',
      asker: askerOf(caller),
      changes: given({ email, name, roles, timeZone }),
    });
  }

  /** Their agents are switched off by reaction; their keys are refused from this answer on. */
  @RpcMethod('users.deactivate')
  deactivate(caller: Caller, body: unknown): Promise<UserAnswer> {
    const { user_id: userId } = parsed(userRefSchema, body);
    return this.act(caller, userId, { type: 'DeactivateUser', asker: askerOf(caller) });
  }

  @RpcMethod('users.reactivate')
  reactivate(caller: Caller, body: unknown): Promise<UserAnswer> {
    const { user_id: userId } = parsed(userRefSchema, body);
    return this.act(caller, userId, { type: 'ReactivateUser', asker: askerOf(caller) });
  }

  /** Their agents are deleted by reaction, never their runs. */
  @RpcMethod('users.delete')
  async delete(caller: Caller, body: unknown): Promise<{ user_id: string; deleted: true; position: string }> {
    const { user_id: userId } = parsed(userRefSchema, body);
    const user = this.registry.user(orgOf(caller), userId);
    const { position } = await this.registry.act(
      user,
      { type: 'DeleteUser', asker: askerOf(caller) },
      caller,
    );
    await peopleReached(this.db, position);
    return { user_id: userId, deleted: true, position };
  }

  @RpcMethod('users.get')
  async get(caller: Caller, body: unknown): Promise<UserRow> {
    const { user_id: userId, at_least: atLeast } = parsed(userRefSchema, body);
    await peopleReached(this.db, atLeast);
    const row = await this.db.inOrg(orgOf(caller), (tx) => findUser(tx, userId));
    if (!row) throw new Problem('not_found', 'There is no such user');
    requireSight(askerOf(caller), userId, 'The user');
    return row;
  }

  @RpcMethod('users.list')
  async list(caller: Caller, body: unknown): Promise<{ data: UserRow[]; next_cursor: string | null }> {
    const { at_least: atLeast, ...filter } = parsed(listUsersSchema, body);
    requireSight(askerOf(caller), null, 'The list of users');
    await peopleReached(this.db, atLeast);
    return this.db.inOrg(orgOf(caller), (tx) => listUsers(tx, filter));
  }

  /** A courtesy against typing errors, read from the rows: two admins at the same instant may still add one address twice. */
  private async refuseTakenEmail(caller: Caller, email: string, userId: string): Promise<void> {
    if (!(await this.db.inOrg(orgOf(caller), (tx) => emailTaken(tx, email, userId)))) return;
    const errors = [{ pointer: '/email', detail: 'belongs to another user' }];
    throw new Problem('already_exists', 'This e-mail address belongs to another user', { errors });
  }

  /** Answers when keys and start conditions know of it: who was told "deactivated" must not see a key of theirs work. */
  private async act(caller: Caller, userId: string, command: UserCommand): Promise<UserAnswer> {
    const { state, position } = await this.registry.act(
      this.registry.user(orgOf(caller), userId),
      command,
      caller,
    );
    await peopleReached(this.db, position);
    return { ...userAnswer(requireUser(state)), position };
  }
}

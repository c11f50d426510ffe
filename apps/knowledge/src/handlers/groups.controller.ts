import { Inject, Injectable } from '@nestjs/common';
import {
  Problem,
  createGroupSchema,
  groupMemberSchema,
  groupRefSchema,
  listGroupsSchema,
  updateGroupSchema,
} from '@runyard/contracts';
import type { Caller, GroupRow } from '@runyard/contracts';
import type { Database } from '@runyard/persistence';
import { DATABASE, RpcMethod } from '@runyard/service';
import { requireGroup } from '../domain/group';
import type { GroupCommand } from '../domain/group';
import { seesAll } from '../domain/rights';
import { findGroup, listGroups } from '../projections/document.queries';
import { knowledgeReached } from '../projections/knowledge.queries';
import { KnowledgeLog } from './knowledge-log.adapter';
import { askerOf, orgOf, parsed, readerOf } from './requests';

const BRIEFLY_MS = 2_000;

/** RPC `groups.*`: groups of people that documents are shared with. Admins make them. */
@Injectable()
export class GroupsController {
  constructor(
    @Inject(KnowledgeLog) private readonly knowledge: KnowledgeLog,
    @Inject(DATABASE) private readonly db: Database,
  ) {}

  @RpcMethod('groups.create')
  create(caller: Caller, body: unknown): Promise<GroupRow> {
    const { group_id: id, name } = parsed(createGroupSchema, body);
    return this.act(caller, id, { type: 'CreateGroup', asker: askerOf(caller), name });
  }

  @RpcMethod('groups.update')
  update(caller: Caller, body: unknown): Promise<GroupRow> {
    const { group_id: id, name } = parsed(updateGroupSchema, body);
    return this.act(caller, id, { type: 'RenameGroup', asker: askerOf(caller), name });
  }

  @RpcMethod('groups.delete')
  async delete(
    caller: Caller,
    body: unknown,
  ): Promise<{ group_id: string; deleted: true; position: string }> {
    const { group_id: id } = parsed(groupRefSchema, body);
    const command: GroupCommand = { type: 'DeleteGroup', asker: askerOf(caller) };
    const { position } = await this.knowledge.act(this.knowledge.group(orgOf(caller), id), command, caller);
    return { group_id: id, deleted: true, position };
  }

  @RpcMethod('groups.add_member')
  async addMember(caller: Caller, body: unknown): Promise<GroupRow> {
    const { group_id: id, user_id: userId } = parsed(groupMemberSchema, body);
    if ((await this.knowledge.standing(orgOf(caller), userId)) === 'unknown')
      throw new Problem('not_found', 'There is no such user');
    return this.act(caller, id, { type: 'AddMember', asker: askerOf(caller), userId });
  }

  /** Holds from the next call of a tool on. */
  @RpcMethod('groups.remove_member')
  removeMember(caller: Caller, body: unknown): Promise<GroupRow> {
    const { group_id: id, user_id: userId } = parsed(groupMemberSchema, body);
    return this.act(caller, id, { type: 'RemoveMember', asker: askerOf(caller), userId });
  }

  /** Members see the groups that they are in, without the other members. */
  @RpcMethod('groups.get')
  async get(caller: Caller, body: unknown): Promise<GroupRow & { users?: string[] }> {
    const { group_id: id, at_least: atLeast } = parsed(groupRefSchema, body);
    if (atLeast !== undefined) await knowledgeReached(this.db, atLeast, BRIEFLY_MS);
    const found = await this.db.inOrg(orgOf(caller), (tx) => findGroup(tx, id));
    if (!found) throw new Problem('not_found', 'There is no such group');
    if (seesAll(askerOf(caller))) return found;
    const { users, ...group } = found;
    if (!users.includes(readerOf(caller)))
      throw new Problem('forbidden', 'You are not in this group; admins and operators see all of them');
    return group;
  }

  @RpcMethod('groups.list')
  async list(caller: Caller, body: unknown): Promise<{ data: GroupRow[]; next_cursor: string | null }> {
    const { at_least: atLeast, ...page } = parsed(listGroupsSchema, body);
    if (atLeast !== undefined) await knowledgeReached(this.db, atLeast, BRIEFLY_MS);
    const member = seesAll(askerOf(caller)) ? undefined : readerOf(caller);
    return this.db.inOrg(orgOf(caller), (tx) => listGroups(tx, { ...page, member }));
  }

  private async act(caller: Caller, id: string, command: GroupCommand): Promise<GroupRow> {
    const aggregate = this.knowledge.group(orgOf(caller), id);
    const { state, position } = await this.knowledge.act(aggregate, command, caller);
    const { name, members, createdAt } = requireGroup(state);
    const created_at = new Date(createdAt).toISOString();
    return { group_id: id, name, members: members.size, created_at, position };
  }
}

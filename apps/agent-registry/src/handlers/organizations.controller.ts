import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Problem, ROLES, createOrgSchema } from '@runyard/contracts';
import type { Caller, CreateOrgInput, CreatedKey, OrgRow, UserRow } from '@runyard/contracts';
import type { Database } from '@runyard/persistence';
import { DATABASE, RpcMethod } from '@runyard/service';
import { requireKey } from '../domain/api-key';
import { requireOrganization } from '../domain/organization';
import type { Asker } from '../domain/rights';
import { requireUser } from '../domain/user';
import { peopleReached } from '../projections/positions.queries';
import { newKey } from './api-keys';
import { keyAnswer, orgAnswer, userAnswer } from './people-answer';
import { RegistryLog } from './registry-log.adapter';
import { askerOf, parsed } from './requests';

export interface CreatedOrg {
  org: OrgRow;
  user: UserRow;
  key: CreatedKey;
  position: string;
}

/** RPC `orgs.create`, for the installation alone: an org, its first admin and a key for that admin. */
@Injectable()
export class OrganizationsController {
  constructor(
    @Inject(RegistryLog) private readonly registry: RegistryLog,
    @Inject(DATABASE) private readonly db: Database,
  ) {}

  /**
   * The org's own event comes last: until then nothing was promised, and a call that died in between is repeated with the
   * same ids (the user is added once, the key that nobody saw is left behind unused).
   */
  @RpcMethod('orgs.create')
  async create(caller: Caller, body: unknown): Promise<CreatedOrg> {
    const input = parsed(createOrgSchema, body);
    const asker = askerOf(caller);
    if (!asker.system) throw new Problem('forbidden', 'Only the installation may create organizations');
    const orgId = input.org_id ?? randomUUID();
    const aggregate = this.registry.organization(orgId);
    if ((await this.registry.read(aggregate)).situation === 'existing')
      throw new Problem('already_exists', 'This organization is there already');
    const user = await this.addAdmin(orgId, input, caller, asker);
    const key = await this.addKey(orgId, user.user_id, input.key_label, caller, asker);
    const command = {
      type: 'CreateOrganization',
      asker,
      name: input.name,
      timeZone: input.time_zone,
    } as const;
    const { state, position } = await this.registry.act(aggregate, command, caller);
    await peopleReached(this.db, position);
    return { org: orgAnswer(orgId, requireOrganization(state)), user, key, position };
  }

  private async addAdmin(
    org: string,
    { admin }: CreateOrgInput,
    caller: Caller,
    asker: Asker,
  ): Promise<UserRow> {
    const { user_id: userId = randomUUID(), email, name, time_zone: timeZone } = admin;
    const profile = { email, name, timeZone, roles: [...ROLES] };
    const { state } = await this.registry.act(
      this.registry.user(org, userId),
      { type: 'AddUser', asker, userId, profile },
      caller,
    );
    return userAnswer(requireUser(state));
  }

  private async addKey(
    org: string,
    userId: string,
    label: string,
    caller: Caller,
    asker: Asker,
  ): Promise<CreatedKey> {
    const { keyId, key, hash } = newKey();
    const data = { keyId, label, hash, roles: [...ROLES], userId, expiresAt: null };
    const command = { type: 'CreateKey', asker, key: data, userKnown: true, now: Date.now() } as const;
    const { state, position } = await this.registry.act(this.registry.key(org, keyId), command, caller);
    return { ...keyAnswer(requireKey(state)), key, position };
  }
}

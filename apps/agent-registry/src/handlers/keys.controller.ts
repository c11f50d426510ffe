import { timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import {
  Problem,
  authenticateKeySchema,
  createKeySchema,
  keyRefSchema,
  listKeysSchema,
} from '@runyard/contracts';
import type { AuthenticatedKey, Caller, CreatedKey, KeyRow } from '@runyard/contracts';
import type { Database } from '@runyard/persistence';
import { DATABASE, RpcMethod } from '@runyard/service';
import { requireKey, rolesOfKey } from '../domain/api-key';
import { requireSight, seesAll } from '../domain/rights';
import { keyByHash } from '../projections/key.queries';
import { listKeys } from '../projections/people.queries';
import type { PresentedKeyRow } from '../projections/key.queries';
import { peopleReached } from '../projections/positions.queries';
import { newKey } from './api-keys';
import { keyAnswer } from './people-answer';
import { RegistryLog } from './registry-log.adapter';
import { askerOf, orgOf, parsed } from './requests';

/** RPC `keys.*`. */
@Injectable()
export class KeysController {
  constructor(
    @Inject(RegistryLog) private readonly registry: RegistryLog,
    @Inject(DATABASE) private readonly db: Database,
  ) {}

  /** Answers when the key can be used. */
  @RpcMethod('keys.create')
  async create(caller: Caller, body: unknown): Promise<CreatedKey> {
    const {
      label,
      roles,
      user_id: userId = caller.userId,
      expires_at: expiresAt,
    } = parsed(createKeySchema, body);
    const { keyId, key, hash } = newKey();
    const data = {
      keyId,
      label,
      hash,
      roles: [...new Set(roles)],
      userId,
      expiresAt: expiresAt === null ? null : Date.parse(expiresAt),
    };
    const command = {
      type: 'CreateKey',
      asker: askerOf(caller),
      key: data,
      userKnown: await this.isKnown(caller, userId),
      now: Date.now(),
    } as const;
    const { state, position } = await this.registry.act(
      this.registry.key(orgOf(caller), keyId),
      command,
      caller,
    );
    await peopleReached(this.db, position);
    return { ...keyAnswer(requireKey(state)), key, position };
  }

  private async isKnown(caller: Caller, userId: string | null): Promise<boolean> {
    if (userId === null || userId === caller.userId) return true;
    return (await this.registry.owner(orgOf(caller), userId)).standing !== 'unknown';
  }

  /** Answers when the key is refused. */
  @RpcMethod('keys.revoke')
  async revoke(caller: Caller, body: unknown): Promise<KeyRow & { position: string }> {
    const { key_id: keyId } = parsed(keyRefSchema, body);
    const command = { type: 'RevokeKey', asker: askerOf(caller) } as const;
    const { state, position } = await this.registry.act(
      this.registry.key(orgOf(caller), keyId),
      command,
      caller,
    );
    await peopleReached(this.db, position);
    return { ...keyAnswer(requireKey(state)), position };
  }

  @RpcMethod('keys.list')
  async list(caller: Caller, body: unknown): Promise<{ data: KeyRow[]; next_cursor: string | null }> {
    const { at_least: atLeast, ...filter } = parsed(listKeysSchema, body);
    const asker = askerOf(caller);
    if (!seesAll(asker)) requireSight(asker, asker.userId, 'The list of keys');
    await peopleReached(this.db, atLeast);
    const whose = seesAll(asker) ? filter.user_id : (asker.userId ?? undefined);
    return this.db.inOrg(orgOf(caller), (tx) => listKeys(tx, { ...filter, user_id: whose }));
  }

  /** For the gateway alone: whom a presented key stands for. Its caller has no org yet; that is what it asks for. */
  @RpcMethod('keys.authenticate')
  async authenticate(caller: Caller, body: unknown): Promise<AuthenticatedKey> {
    if (!askerOf(caller).system) throw new Problem('forbidden', 'Only parts of the platform may check keys');
    const { hash, key_id: keyId } = parsed(authenticateKeySchema, body);
    const found = await keyByHash(this.db, hash);
    if (!found || !equal(found.hash, hash) || (keyId !== undefined && keyId !== found.key_id))
      throw new Problem('unauthenticated', 'There is no such API key', { reason: 'unknown' });
    return answer(found, Date.now());
  }
}

/** The index finds the row by its hash; the comparison that decides takes the same time whatever differs. */
function equal(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a, 'hex'), Buffer.from(b, 'hex')];
  return left.length === right.length && timingSafeEqual(left, right);
}

function answer(row: PresentedKeyRow, now: number): AuthenticatedKey {
  const expiresAt = row.expires_at?.getTime() ?? null;
  const user =
    row.user_id === null
      ? null
      : row.user_active === null
        ? undefined
        : { active: row.user_active, roles: row.user_roles ?? [] };
  const roles = rolesOfKey({ roles: row.roles, expiresAt, revoked: row.revoked_at !== null, user }, now);
  const { org_id, key_id, label, user_id } = row;
  return { org_id, key_id, label, user_id, roles, expires_at: row.expires_at?.toISOString() ?? null };
}

import { Problem } from '@runyard/contracts';
import type { Actor, ApiKeyCreated, ApiKeyRevoked, Role } from '@runyard/contracts';
import type { Decided } from './decision';
import { isOwner, requireAdmin } from './rights';
import type { Asker } from './rights';

export type ApiKeyEvent = ApiKeyCreated | ApiKeyRevoked;
export type ApiKeyDecision = Decided<ApiKeyEvent>;

export interface ExistingKey {
  situation: 'live' | 'revoked';
  data: ApiKeyCreated['data'];
  createdAt: number;
  createdBy: Actor;
  revokedAt: number | null;
}
export type ApiKey = { situation: 'absent' } | ExistingKey;

export const NO_KEY: ApiKey = { situation: 'absent' };

export type ApiKeyCommand = { asker: Asker } &
  /** `userKnown`: the key's user is one of the org; nobody asks about the asker. */
  (
    | { type: 'CreateKey'; key: ApiKeyCreated['data']; userKnown: boolean; now: number }
    | { type: 'RevokeKey' }
  );

export function requireKey(key: ApiKey): ExistingKey {
  if (key.situation === 'absent') throw new Problem('not_found', 'There is no such key');
  return key;
}

export function evolveKey(key: ApiKey, event: ApiKeyEvent): ApiKey {
  if (event.type === 'ApiKeyCreated')
    return {
      situation: 'live',
      data: event.data,
      createdAt: event.time,
      createdBy: event.actor,
      revokedAt: null,
    };
  return key.situation === 'live' ? { ...key, situation: 'revoked', revokedAt: event.time } : key;
}

export function decideKey(key: ApiKey, command: ApiKeyCommand): ApiKeyDecision[] {
  switch (command.type) {
    case 'CreateKey':
      if (key.situation !== 'absent') throw new Problem('already_exists', 'This key is there already');
      return create(command);
    case 'RevokeKey': {
      const { situation, data } = requireKey(key);
      if (data.userId === null || !isOwner(command.asker, data.userId))
        requireAdmin(command.asker, "revoke keys that are not one's own");
      return situation === 'revoked' ? [] : [{ type: 'ApiKeyRevoked', data: { keyId: data.keyId } }];
    }
    default:
      return command satisfies never;
  }
}

/**
 * Nobody hands out more than they have. A key for somebody else comes from an admin (a new member's first one, where no
 * identity provider is at hand): it never has a role that its user lacks, and the log says who made it.
 */
function create({
  asker,
  key,
  userKnown,
  now,
}: Extract<ApiKeyCommand, { type: 'CreateKey' }>): ApiKeyDecision[] {
  const own = key.userId !== null && isOwner(asker, key.userId);
  if (!own)
    requireAdmin(asker, key.userId === null ? 'create keys for applications' : 'create keys for others');
  const missing = asker.system ? [] : missingRoles(asker.roles, key.roles);
  if (missing.length)
    throw new Problem('forbidden', `A key cannot have roles that its creator lacks: ${missing.join(', ')}`, {
      missing_roles: missing,
    });
  if (!userKnown)
    throw new Problem('invalid_request', 'The user of the key is not a user of this organization', {
      errors: [{ pointer: '/user_id', detail: 'is not a user of this organization' }],
    });
  if (key.expiresAt !== null && key.expiresAt <= now)
    throw new Problem('invalid_request', 'The key would have expired already', {
      errors: [{ pointer: '/expires_at', detail: 'must lie in the future' }],
    });
  return [{ type: 'ApiKeyCreated', data: key }];
}

const missingRoles = (own: readonly Role[], wanted: readonly Role[]): Role[] =>
  wanted.filter((role) => !own.includes(role));

/** What is known of a key and its user when it is presented. */
export interface PresentedKey {
  roles: readonly Role[];
  expiresAt: number | null;
  revoked: boolean;
  /** Null: the key stands for an application. Undefined: the user is not there any more. */
  user: { active: boolean; roles: readonly Role[] } | null | undefined;
}

/** Roles that a presented key has at `now`; throws `unauthenticated` with the reason. A user's key has no role that the user lost. */
export function rolesOfKey(key: PresentedKey, now: number): Role[] {
  const refuse = (message: string, reason: string) => new Problem('unauthenticated', message, { reason });
  if (key.revoked) throw refuse('The API key was revoked', 'revoked');
  if (key.expiresAt !== null && key.expiresAt <= now) throw refuse('The API key has expired', 'expired');
  if (key.user === undefined) throw refuse('The user of this API key is not there any more', 'user_deleted');
  if (key.user === null) return [...key.roles];
  if (!key.user.active) throw refuse('The user of this API key is deactivated', 'user_inactive');
  const { roles } = key.user;
  return key.roles.filter((role) => roles.includes(role));
}

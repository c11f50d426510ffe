import { z } from 'zod';
import { pageSchema, positionSchema } from '../agents/agent.requests';
import { timeZoneSchema } from '../agents/schedule.requests';
import { timeSchema } from '../storable';
import { ROLES } from './people.events';
import type { Role } from './people.events';

const filled = (max: number) =>
  z
    .string()
    .max(max, `must be at most ${max} characters`)
    .refine((value) => value.trim() !== '', 'must not be empty');
const userId = z.uuid('must be the id of a user');
const roles = z.array(z.enum(ROLES, `must be one of ${ROLES.join(', ')}`)).max(ROLES.length);
const email = z.email('must be an e-mail address').max(320);

const userFields = {
  email,
  name: filled(200),
  /** Null: the org's. */
  time_zone: timeZoneSchema.nullable(),
  roles: roles.min(1, 'must name at least one role'),
};

/**
 * `orgs.create`: for the installation alone. Makes the org, its first admin and a key for that admin, which is shown in
 * the answer and never again. With `org_id` it is repeatable: an org that is there already is refused.
 */
export const createOrgSchema = z.strictObject({
  org_id: z.uuid('must be a UUID').optional(),
  name: filled(200),
  time_zone: timeZoneSchema.default('UTC'),
  admin: z.strictObject({
    user_id: userId.optional(),
    email,
    name: filled(200),
    time_zone: timeZoneSchema.nullable().default(null),
  }),
  key_label: filled(80).default('first key'),
});
export type CreateOrgInput = z.infer<typeof createOrgSchema>;
/** `orgs.get`. */
export const orgRefSchema = z.strictObject({ at_least: positionSchema.optional() });
/** `orgs.update`: the fields that change. */
export const updateOrgSchema = z.strictObject({
  name: filled(200).optional(),
  time_zone: timeZoneSchema.optional(),
  /** Runs are kept this many days after they began; null: for ever. */
  retention_days: z
    .int('must be a whole number of days, or null')
    .min(1, 'must be at least 1')
    .max(36_500, 'must be at most 36,500')
    .nullable()
    .optional(),
});

/** `users.add`. `user_id` is for identities that come from elsewhere. */
export const addUserSchema = z.strictObject({
  user_id: userId.optional(),
  ...userFields,
  time_zone: userFields.time_zone.default(null),
  roles: userFields.roles.default(['member']),
});
/** `users.update`: the fields that change. */
export const updateUserSchema = z.strictObject({
  user_id: userId,
  ...z.strictObject(userFields).partial().shape,
});
/** `users.get`, `users.deactivate`, `users.reactivate`, `users.delete`. */
export const userRefSchema = z.strictObject({ user_id: userId, at_least: positionSchema.optional() });
/** `users.list`, by e-mail address. */
export const listUsersSchema = z.strictObject({
  ...pageSchema,
  active: z.boolean('must be true or false').optional(),
});

/** `keys.create`. Without `user_id` the key stands for an application. Its roles are at most those of its creator. */
export const createKeySchema = z.strictObject({
  label: filled(80),
  roles: roles.min(1, 'must name at least one role'),
  user_id: userId.nullable().optional(),
  expires_at: timeSchema().nullable().default(null),
});
const keyId = z.string().regex(/^key_[0-9a-z]{20}$/, 'must be the id of a key');
/** `keys.revoke`. */
export const keyRefSchema = z.strictObject({ key_id: keyId });
/** `keys.list`, newest first. Members get their own keys. */
export const listKeysSchema = z.strictObject({ ...pageSchema, user_id: userId.optional() });
/** `keys.authenticate`, for the gateway alone: the SHA-256 of the presented key in hex, never the key. */
export const authenticateKeySchema = z.strictObject({
  hash: z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hex'),
  key_id: keyId.optional(),
});

/** What `keys.authenticate` answers: who the key stands for. A key that does not hold is `unauthenticated`, with a reason. */
export interface AuthenticatedKey {
  org_id: string;
  key_id: string;
  label: string;
  user_id: string | null;
  roles: Role[];
  expires_at: string | null;
}

export interface OrgRow {
  org_id: string;
  name: string;
  time_zone: string;
  /** Days that runs are kept after they began; null: for ever. */
  retention_days: number | null;
  created_at: string;
}
export interface UserRow {
  user_id: string;
  email: string;
  name: string;
  time_zone: string | null;
  roles: Role[];
  active: boolean;
  created_at: string;
}
export interface KeyRow {
  key_id: string;
  label: string;
  roles: Role[];
  user_id: string | null;
  created_at: string;
  created_by: string;
  expires_at: string | null;
  revoked_at: string | null;
}
/** What `keys.create` answers. `key` is shown this once. */
export interface CreatedKey extends KeyRow {
  key: string;
  position: string;
}

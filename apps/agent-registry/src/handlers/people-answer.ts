import { isoTime } from '@runyard/contracts';
import type { KeyRow, OrgRow, UserRow } from '@runyard/contracts';
import type { ExistingKey } from '../domain/api-key';
import type { ExistingOrganization } from '../domain/organization';
import type { ExistingUser } from '../domain/user';

const isoOrNull = (time: number | null): string | null => (time === null ? null : isoTime(time));

export function orgAnswer(orgId: string, org: ExistingOrganization): OrgRow {
  const { name, timeZone, retentionDays, createdAt } = org;
  return {
    org_id: orgId,
    name,
    time_zone: timeZone,
    retention_days: retentionDays,
    created_at: isoTime(createdAt),
  };
}

export function userAnswer({ userId, profile, situation, createdAt }: ExistingUser): UserRow {
  const { email, name, timeZone, roles } = profile;
  return {
    user_id: userId,
    email,
    name,
    time_zone: timeZone,
    roles,
    active: situation === 'active',
    created_at: isoTime(createdAt),
  };
}

export function keyAnswer({ data, createdAt, createdBy, revokedAt }: ExistingKey): KeyRow {
  const { keyId, label, roles, userId, expiresAt } = data;
  const times = {
    created_at: isoTime(createdAt),
    expires_at: isoOrNull(expiresAt),
    revoked_at: isoOrNull(revokedAt),
  };
  return { key_id: keyId, label, roles, user_id: userId, created_by: createdBy, ...times };
}

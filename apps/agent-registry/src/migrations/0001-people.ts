import { enableTenantPolicies } from '@runyard/persistence';
import type { Migration } from '@runyard/persistence';

const SERVICE = 'agent-registry';

/** Organizations, users and keys: rows that belong to an identity provider, kept so that they can be referenced. */
export const CREATE_PEOPLE: Migration = {
  name: 'CreatePeople',
  timestamp: 1_764_460_800_001,
  up: `
    CREATE TABLE organizations (
      org_id uuid PRIMARY KEY,
      name text NOT NULL,
      time_zone text NOT NULL,
      created_at timestamptz NOT NULL,
      position text NOT NULL
    );
    COMMENT ON TABLE organizations IS 'Tenants. Projection of PEOPLE';
    COMMENT ON COLUMN organizations.time_zone IS 'IANA name; where a user has none, this one holds';
    ${enableTenantPolicies(SERVICE, 'organizations')}

    CREATE TABLE users (
      org_id uuid NOT NULL,
      user_id uuid NOT NULL,
      email text,
      name text,
      time_zone text,
      roles text[] NOT NULL DEFAULT '{}',
      active boolean NOT NULL DEFAULT true,
      created_at timestamptz,
      position text,
      PRIMARY KEY (org_id, user_id)
    );
    COMMENT ON TABLE users IS 'Members of an org. Projection of PEOPLE; a row without position is a stub that an agent refers to and that PEOPLE has yet to fill';
    COMMENT ON COLUMN users.time_zone IS 'IANA name; NULL: the org''s';
    CREATE INDEX users_by_email ON users (org_id, email, user_id);
    ${enableTenantPolicies(SERVICE, 'users')}

    CREATE TABLE departed_users (
      org_id uuid NOT NULL,
      user_id uuid NOT NULL,
      PRIMARY KEY (org_id, user_id)
    );
    COMMENT ON TABLE departed_users IS 'Ids of deleted users: what comes later for one of them makes no row. Holds no personal data';
    ${enableTenantPolicies(SERVICE, 'departed_users')}

    CREATE TABLE api_keys (
      key_id text NOT NULL,
      org_id uuid NOT NULL,
      label text NOT NULL,
      hash text NOT NULL,
      roles text[] NOT NULL,
      user_id uuid,
      created_at timestamptz NOT NULL,
      created_by text NOT NULL,
      expires_at timestamptz,
      revoked_at timestamptz,
      position text NOT NULL,
      PRIMARY KEY (org_id, key_id)
    );
    COMMENT ON TABLE api_keys IS 'API keys, without the keys. Projection of PEOPLE';
    COMMENT ON COLUMN api_keys.hash IS 'SHA-256 of the whole key in hex; the key is 256 bits of randomness, so it needs no salt';
    COMMENT ON COLUMN api_keys.user_id IS 'Whose key it is; NULL: an application''s. No foreign key: the row of a deleted user''s key stays, and is refused';
    CREATE INDEX api_keys_by_hash ON api_keys (hash);
    CREATE INDEX api_keys_by_time ON api_keys (org_id, created_at DESC, key_id DESC);
    ${enableTenantPolicies(SERVICE, 'api_keys')}`,
};

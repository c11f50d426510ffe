import { enableTenantPolicies } from '../policies';
import type { Migration } from '../migrations';

/** Debian's Postgres has lz4, npm's has not; the data is the same, only its size on disk differs. */
const lz4WhereKnown = (table: string): string => `
  DO $$ BEGIN
    ALTER TABLE ${table} ALTER COLUMN body SET COMPRESSION lz4;
  EXCEPTION WHEN feature_not_supported THEN NULL;
  END $$;`;

/**
 * Schema `archive`, shared by all services: every commit as it lay in its stream, and large texts by digest. The body of
 * a commit is text, not jsonb, which would reorder keys and normalise numbers. Tenants' work reads the archive under its
 * org's policy and writes blobs; only projectors write commits.
 */
export const archiveMigrations: readonly Migration[] = [
  {
    name: 'CreateEventLog',
    timestamp: 1_764_400_100_000,
    up: `
      CREATE TABLE event_log (
        stream text NOT NULL,
        sequence int8 NOT NULL CHECK (sequence > 0),
        subject text NOT NULL,
        org_id uuid,
        commit_id text NOT NULL,
        stored_at timestamptz(3) NOT NULL,
        headers jsonb NOT NULL,
        body text NOT NULL,
        PRIMARY KEY (stream, sequence)
      );
      CREATE INDEX event_log_subject ON event_log (subject, sequence);
      ${lz4WhereKnown('event_log')}
      ${enableTenantPolicies('all', 'event_log', { tenantMay: 'SELECT' })}`,
  },
  {
    name: 'CreateBlobs',
    timestamp: 1_764_400_200_000,
    up: `
      CREATE TABLE blobs (
        org_id uuid NOT NULL,
        digest text NOT NULL CHECK (digest ~ '^[0-9a-f]{64}$'),
        body text NOT NULL,
        bytes int8 NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        touched_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (org_id, digest)
      );
      CREATE INDEX blobs_touched ON blobs (touched_at);
      ${lz4WhereKnown('blobs')}
      ${enableTenantPolicies('all', 'blobs')}`,
  },
];

import { ACROSS_GROUP, TENANT_GROUP } from '../roles';
import type { Migration } from '../migrations';

/**
 * Every schema's table of how far its projections have come. `version` and `stream` are part of the key: a rebuild beside
 * the old version, and a projection that moves to another stream, start from nothing. No rows of tenants, hence no policy;
 * schemas are closed to other services by USAGE.
 */
export const CHECKPOINT_MIGRATIONS: readonly Migration[] = [
  {
    name: 'CreateProjectionCheckpoints',
    timestamp: 1_764_400_000_000,
    up: `
        CREATE TABLE projection_checkpoints (
          projection text NOT NULL,
          version int NOT NULL,
          stream text NOT NULL,
          incarnation text NOT NULL,
          position int8 NOT NULL CHECK (position >= 0),
          updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
          PRIMARY KEY (projection, version, stream)
        ) WITH (fillfactor = 50);
        GRANT SELECT ON projection_checkpoints TO ${TENANT_GROUP};
        GRANT SELECT, INSERT, UPDATE, DELETE ON projection_checkpoints TO ${ACROSS_GROUP};`,
  },
];

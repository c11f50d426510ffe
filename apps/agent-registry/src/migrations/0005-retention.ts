import type { Migration } from '@runyard/persistence';

/** How long an org keeps its runs is the org's to say; until now all kept them for ever. */
export const SET_RETENTION: Migration = {
  name: 'SetRetention',
  timestamp: 1_764_460_800_005,
  up: `
    ALTER TABLE organizations ADD COLUMN retention_days integer CHECK (retention_days > 0);
    COMMENT ON COLUMN organizations.retention_days IS 'Days that runs are kept after they began; NULL: for ever';`,
};

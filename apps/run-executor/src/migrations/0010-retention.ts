import { enableTenantPolicies } from '@runyard/persistence';
import type { Migration } from '@runyard/persistence';

/** How long each org keeps its runs, for the sweep that deletes what is older. */
export const retention: Migration = {
  name: 'AddRetention',
  timestamp: 1_764_460_010_000,
  up: `
CREATE TABLE retention_settings (
  org_id uuid PRIMARY KEY,
  run_days integer CHECK (run_days > 0)
);
COMMENT ON TABLE retention_settings IS 'What orgs have said about how long runs are kept. Projection of PEOPLE';
COMMENT ON COLUMN retention_settings.run_days IS 'Days after a run began, or was queued where it never began; NULL: for ever';
${enableTenantPolicies('run-executor', 'retention_settings', { tenantMay: 'SELECT' })}
`,
};

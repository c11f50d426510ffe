import { enableTenantPolicies, grantAcrossOnly } from '@runyard/persistence';
import type { Migration } from '@runyard/persistence';

const SERVICE = 'run-executor';

/** Tables with an `org_id`: the service's role sees one tenant's rows at a time, its second role all of them (P8.8). */
export const TENANT_TABLES = [
  'organizations',
  'users',
  'erased_references',
  'deleted_conversations',
  'conversations',
  'agent_runs',
  'run_entries',
  'run_progress',
  'run_slots',
  'run_keys',
  'run_drivers',
  'deleted_runs',
] as const;

/** Row-level security and grants; the roles exist before migrations run and own nothing. */
export const access: Migration = {
  name: 'GrantAccess',
  timestamp: 1_764_460_005_000,
  up: `
${TENANT_TABLES.map((table) => enableTenantPolicies(SERVICE, table)).join('\n')}
${enableTenantPolicies(SERVICE, 'agent_steps', { tenantMay: 'SELECT, INSERT, DELETE' })}
${grantAcrossOnly(SERVICE, 'unknown_events', { tenantMayRead: true })}
`,
};

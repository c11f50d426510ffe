import { enableTenantPolicies } from '@runyard/persistence';
import type { Migration } from '@runyard/persistence';

/** Whose tasks are nobody's any more. */
export const REMEMBER_DEPARTED_OWNERS: Migration = {
  name: 'RememberDepartedOwners',
  timestamp: 1_764_460_800_602,
  up: `
    CREATE TABLE departed_owners (
      org_id uuid NOT NULL,
      user_id uuid NOT NULL,
      PRIMARY KEY (org_id, user_id)
    );
    CREATE INDEX agent_tasks_owner ON agent_tasks (org_id, user_id) WHERE user_id IS NOT NULL;
    COMMENT ON TABLE departed_owners IS 'Ids of deleted users. Projection of PEOPLE; holds no personal data';
    ${enableTenantPolicies('tasks', 'departed_owners', { tenantMay: 'SELECT' })}`,
};

import { escapeIdentifier } from 'pg';
import { ACROSS_GROUP, acrossRoleOf, roleOf, TENANT_GROUP } from './roles';

/**
 * The predicate of every tenant policy. A connection that once had the setting answers '' instead of NULL when it is
 * unset, and ''::uuid throws; NULLIF turns both into "no rows".
 */
export const CURRENT_ORG = `NULLIF(current_setting('runyard.org', true), '')::uuid`;

interface Holders {
  tenant: string;
  across: string;
}

const ofService = (service: string): Holders => ({ tenant: roleOf(service), across: acrossRoleOf(service) });
const OF_ALL: Holders = { tenant: TENANT_GROUP, across: ACROSS_GROUP };

export interface PolicyOptions {
  /** What the tenants' role may do; default everything. */
  tenantMay?: string;
  /** Column that holds the org; default `org_id`. The table of orgs itself names its `id`. */
  orgColumn?: string;
}

/**
 * SQL for a migration: row-level security on a table with an org column, and the grants that go with it. The service's
 * first role sees the current org's rows, its second role all of them. `service` 'all' means every service's roles.
 */
export function enableTenantPolicies(service: string, table: string, options: PolicyOptions = {}): string {
  const { tenant, across } = service === 'all' ? OF_ALL : ofService(service);
  const { tenantMay = 'SELECT, INSERT, UPDATE, DELETE', orgColumn = 'org_id' } = options;
  const own = `${escapeIdentifier(orgColumn)} = ${CURRENT_ORG}`;
  return `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    CREATE POLICY tenant ON ${table} TO ${tenant} USING (${own}) WITH CHECK (${own});
    CREATE POLICY across ON ${table} TO ${across} USING (true) WITH CHECK (true);
    GRANT ${tenantMay} ON ${table} TO ${tenant};
    GRANT SELECT, INSERT, UPDATE, DELETE ON ${table} TO ${across};`;
}

/** SQL for a migration: a table that belongs to no org (checkpoints, platform settings). Tenants' work may at most read it. */
export function grantAcrossOnly(
  service: string,
  table: string,
  options: { tenantMayRead?: boolean } = {},
): string {
  const { tenant, across } = service === 'all' ? OF_ALL : ofService(service);
  return `
    GRANT SELECT, INSERT, UPDATE, DELETE ON ${table} TO ${across};
    ${options.tenantMayRead ? `GRANT SELECT ON ${table} TO ${tenant};` : ''}`;
}

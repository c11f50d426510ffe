import { acrossRoleOf, roleOf, runMigrations, schemaOf } from '@runyard/persistence';
import type { Migration } from '@runyard/persistence';
import { CREATE_APPROVALS } from './0001-approvals';
import { CREATE_ACTIVITY } from './0002-activity';

const SERVICE = 'approvals';

/** Schema `approvals`, oldest step first. Steps that were released never change; a mistake is mended by the next one. */
export const APPROVALS_MIGRATIONS: readonly Migration[] = [CREATE_APPROVALS, CREATE_ACTIVITY];

/** Brings the schema up to date; several instances may call it at once. */
export function migrateApprovals(ownerUrl: string): Promise<string[]> {
  const roles = [roleOf(SERVICE), acrossRoleOf(SERVICE)];
  return runMigrations({ url: ownerUrl, schema: schemaOf(SERVICE), migrations: APPROVALS_MIGRATIONS, roles });
}

import { acrossRoleOf, roleOf, runMigrations, schemaOf } from '@runyard/persistence';
import type { Migration } from '@runyard/persistence';
import { CREATE_LEDGER } from './0001-ledger';

const SERVICE = 'budget-ledger';

/** Schema `budget_ledger`, oldest step first. Steps that were released never change; a mistake is mended by the next one. */
export const BUDGET_LEDGER_MIGRATIONS: readonly Migration[] = [CREATE_LEDGER];

/** Brings the schema up to date; several instances may call it at once. */
export function migrateBudgetLedger(ownerUrl: string): Promise<string[]> {
  const roles = [roleOf(SERVICE), acrossRoleOf(SERVICE)];
  return runMigrations({
    url: ownerUrl,
    schema: schemaOf(SERVICE),
    migrations: BUDGET_LEDGER_MIGRATIONS,
    roles,
  });
}

import { acrossRoleOf, roleOf, runMigrations, schemaOf } from '@runyard/persistence';
import type { Migration } from '@runyard/persistence';
import { CREATE_SLOTS } from './0001-slots';
import { CHOOSE_CATCH_UP } from './0002-catch-up';

const SERVICE = 'scheduler';

/** Schema `scheduler`, oldest step first. Steps that were released never change; a mistake is mended by the next one. */
export const SCHEDULER_MIGRATIONS: readonly Migration[] = [CREATE_SLOTS, CHOOSE_CATCH_UP];

/** Brings the schema up to date; several instances may call it at once. */
export function migrateScheduler(ownerUrl: string): Promise<string[]> {
  const roles = [roleOf(SERVICE), acrossRoleOf(SERVICE)];
  return runMigrations({ url: ownerUrl, schema: schemaOf(SERVICE), migrations: SCHEDULER_MIGRATIONS, roles });
}

import { acrossRoleOf, roleOf, runMigrations, schemaOf } from '@runyard/persistence';
import type { Migration } from '@runyard/persistence';
import { CREATE_TASKS } from './0001-tasks';
import { REMEMBER_DEPARTED_OWNERS } from './0002-departed-owners';

const SERVICE = 'tasks';

/** Schema `tasks`, oldest step first. Steps that were released never change; a mistake is mended by the next one. */
export const TASKS_MIGRATIONS: readonly Migration[] = [CREATE_TASKS, REMEMBER_DEPARTED_OWNERS];

/** Brings the schema up to date; several instances may call it at once. */
export function migrateTasks(ownerUrl: string): Promise<string[]> {
  const roles = [roleOf(SERVICE), acrossRoleOf(SERVICE)];
  return runMigrations({ url: ownerUrl, schema: schemaOf(SERVICE), migrations: TASKS_MIGRATIONS, roles });
}

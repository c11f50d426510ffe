import { acrossRoleOf, roleOf, runMigrations, schemaOf } from '@runyard/persistence';
import type { Migration } from '@runyard/persistence';
import { CREATE_DOCUMENTS } from './0001-documents';

const SERVICE = 'knowledge';

/** Schema `knowledge`, oldest step first. Steps that were released never change; a mistake is mended by the next one. */
export const KNOWLEDGE_MIGRATIONS: readonly Migration[] = [CREATE_DOCUMENTS];

/** Brings the schema up to date; several instances may call it at once. */
export function migrateKnowledge(ownerUrl: string): Promise<string[]> {
  const roles = [roleOf(SERVICE), acrossRoleOf(SERVICE)];
  return runMigrations({ url: ownerUrl, schema: schemaOf(SERVICE), migrations: KNOWLEDGE_MIGRATIONS, roles });
}

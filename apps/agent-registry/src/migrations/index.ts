import { acrossRoleOf, roleOf, runMigrations, schemaOf } from '@runyard/persistence';
import type { Migration } from '@runyard/persistence';
import { CREATE_PEOPLE } from './0001-people';
import { CREATE_CATALOGUE } from './0002-catalogue';
import { CREATE_AGENTS } from './0003-agents';
import { CHOOSE_CATCH_UP } from './0004-catch-up';
import { SET_RETENTION } from './0005-retention';

const SERVICE = 'agent-registry';

/** Schema `agent_registry`, oldest step first. Steps that were released never change; a mistake is mended by the next one. */
export const AGENT_REGISTRY_MIGRATIONS: readonly Migration[] = [
  CREATE_PEOPLE,
  CREATE_CATALOGUE,
  CREATE_AGENTS,
  CHOOSE_CATCH_UP,
  SET_RETENTION,
];

/** Brings the schema up to date; several instances may call it at once. Returns the steps that this call ran. */
export function migrateAgentRegistry(ownerUrl: string): Promise<string[]> {
  const roles = [roleOf(SERVICE), acrossRoleOf(SERVICE)];
  return runMigrations({
    url: ownerUrl,
    schema: schemaOf(SERVICE),
    migrations: AGENT_REGISTRY_MIGRATIONS,
    roles,
  });
}

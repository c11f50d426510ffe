import { acrossRoleOf, roleOf, runMigrations, schemaOf } from '@runyard/persistence';
import type { Migration } from '@runyard/persistence';
import { idempotencyKeys } from './0001-idempotency-keys';

export const GATEWAY_MIGRATIONS: readonly Migration[] = [idempotencyKeys];

/** Brings schema `gateway` up to date; any number of instances may call it at once. */
export function migrateGateway(ownerUrl: string): Promise<string[]> {
  return runMigrations({
    url: ownerUrl,
    schema: schemaOf('gateway'),
    migrations: GATEWAY_MIGRATIONS,
    roles: [roleOf('gateway'), acrossRoleOf('gateway')],
  });
}

import {
  ACROSS_GROUP,
  acrossRoleOf,
  archiveMigrations,
  ensureRoles,
  roleOf,
  runMigrations,
  schemaOf,
  TENANT_GROUP,
} from '@runyard/persistence';
import type { Migration } from '@runyard/persistence';

/** Variable that holds the password of a service's database roles. */
export const databasePassword = (service: string): string =>
  `${service.toUpperCase().replaceAll('-', '_')}_DB_PASSWORD`;

/**
 * Roles, the archive and every service's schema at their newest version, as the owner of the database; repeatable. `passwords`
 * says each login role's.
 */
export async function prepareDatabase(
  url: string,
  services: readonly { service: string; migrations: readonly Migration[] }[],
  passwords: (role: string) => string | undefined,
): Promise<void> {
  await ensureRoles(
    url,
    services.map(({ service }) => service),
    passwords,
  );
  await runMigrations({
    url,
    schema: 'archive',
    migrations: archiveMigrations,
    roles: [TENANT_GROUP, ACROSS_GROUP],
  });
  for (const { service, migrations } of services) {
    const roles = [roleOf(service), acrossRoleOf(service)];
    await runMigrations({ url, schema: schemaOf(service), migrations, roles });
  }
}

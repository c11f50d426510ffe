import { createHash } from 'node:crypto';
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
import { Client } from 'pg';

/** For servers that ask for one; the jest run's own server trusts everybody on loopback. */
export const TEST_PASSWORD = 'runyard-test';

/** One lock for all templates and roles: they are few, and roles belong to the whole server. */
const LOCK = 7_262_001;

interface Schema {
  name: string;
  migrations: readonly Migration[];
  roles: string[];
}

/** Runs `work` on a connection to the server's maintenance database. */
export async function onServer<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function schemasOf(services: readonly { service: string; migrations: readonly Migration[] }[]): Schema[] {
  const own = services.map(({ service, migrations }) => ({
    name: schemaOf(service),
    migrations,
    roles: [roleOf(service), acrossRoleOf(service)],
  }));
  return [...own, { name: 'archive', migrations: archiveMigrations, roles: [TENANT_GROUP, ACROSS_GROUP] }];
}

/** Any change of any step gives another template. */
function nameOf(schemas: readonly Schema[]): string {
  const steps = schemas.map(({ name, migrations }) => [
    name,
    migrations.map((step) => [step.name, step.timestamp, String(step.up), step.transactional]),
  ]);
  return `template_${createHash('sha256').update(JSON.stringify(steps)).digest('hex').slice(0, 16)}`;
}

async function build(
  server: string,
  client: Client,
  name: string,
  schemas: readonly Schema[],
): Promise<void> {
  const draft = `${name}_draft`;
  await client.query(`DROP DATABASE IF EXISTS ${draft} WITH (FORCE)`);
  await client.query(`CREATE DATABASE ${draft}`);
  const url = new URL(server);
  url.pathname = `/${draft}`;
  for (const { name: schema, migrations, roles } of schemas)
    await runMigrations({ url: url.toString(), schema, migrations, roles });
  // Renamed when it is whole: a killed run leaves no half template that looks ready.
  await client.query(`ALTER DATABASE ${draft} RENAME TO ${name}`);
}

/** Name of a migrated template; built by the first worker that needs it, while the others wait. */
export async function ensureTemplate(
  server: string,
  services: readonly { service: string; migrations: readonly Migration[] }[],
): Promise<string> {
  const schemas = schemasOf(services);
  const name = nameOf(schemas);
  await onServer(server, async (client) => {
    await client.query('SELECT pg_advisory_lock($1)', [LOCK]);
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [name]);
    if (rowCount) return;
    await ensureRoles(
      server,
      services.map(({ service }) => service),
      () => TEST_PASSWORD,
    );
    await build(server, client, name, schemas);
  });
  return name;
}

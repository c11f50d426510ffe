import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { Client } from 'pg';
import {
  ACROSS_GROUP,
  acrossRoleOf,
  archiveMigrations,
  archiveProjection,
  connectDatabase,
  derivedPasswords,
  ensureRoles,
  positionReached,
  rebuildAndCompare,
  archiveSource,
  roleOf,
  runMigrations,
  runProjection,
  TENANT_GROUP,
  urlFor,
} from '.';
import { countingMigrations, countingProjection, countingSource, ORGS } from './spec/counting-projection';

jest.setTimeout(120_000);

/** Unique names: roles belong to the whole server of the jest run. */
const suffix = randomBytes(4).toString('hex');
const OWNER = `runyard_owner_${suffix}`;
const NAME = `runyard_${suffix}`;
const server = process.env.TEST_DATABASE_URL ?? '';
const ownerUrl = (() => {
  const url = new URL(urlFor(server, OWNER, 'owner'));
  url.pathname = `/${NAME}`;
  return url.toString();
})();

async function asSuperuser(...statements: string[]): Promise<void> {
  const client = new Client({ connectionString: server });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

beforeAll(async () => {
  const script = fs.readFileSync(path.join(__dirname, '../../../deploy/postgres/bootstrap.sql'), 'utf8');
  const statements = script
    .replace(/^--.*$/gm, '')
    .replaceAll('runyard_owner', OWNER)
    .replace('DATABASE runyard ', `DATABASE ${NAME} `);
  await asSuperuser(
    ...statements.split(';').filter((statement) => statement.trim()),
    `ALTER ROLE ${OWNER} PASSWORD 'owner'`,
  );
});
afterAll(() =>
  asSuperuser(`DROP DATABASE IF EXISTS ${NAME} WITH (FORCE)`, `DROP OWNED BY ${OWNER}`, `DROP ROLE ${OWNER}`),
);

test('an owner that is no superuser, as bootstrap.sql makes it, does all that an installation needs', async () => {
  const service = `owned-${suffix}`;
  // The groups of this server were made by another owner in other specs; a real server has one owner, who made them.
  await asSuperuser(`GRANT ${TENANT_GROUP}, ${ACROSS_GROUP} TO ${OWNER} WITH ADMIN OPTION`).catch(
    () => undefined,
  );
  const passwords = derivedPasswords('a secret of the installation');
  await ensureRoles(ownerUrl, [service], passwords);
  const roles = [roleOf(service), acrossRoleOf(service)];
  await runMigrations({
    url: ownerUrl,
    schema: 'archive',
    migrations: archiveMigrations,
    roles: [TENANT_GROUP, ACROSS_GROUP],
  });
  const migrations = countingMigrations.map((step) => ({
    ...step,
    up: String(step.up).replaceAll('runyard_counting', roleOf(service)),
  }));
  const schema = service.replaceAll('-', '_');
  await runMigrations({ url: ownerUrl, schema, migrations, roles });
  const [url = '', acrossUrl = ''] = roles.map((role) => urlFor(ownerUrl, role, passwords(role)));
  const db = connectDatabase({ url, acrossUrl, applicationName: 'owner spec' });
  const stop = new AbortController();
  const running = [archiveProjection('RUNS'), countingProjection].map((projection) =>
    runProjection({ db, source: countingSource(50), projection, signal: stop.signal }),
  );
  expect(await positionReached(db, countingProjection, 50, 20_000)).toBe(true);
  const tables = ['counters'];
  const source = archiveSource(db, 'RUNS');
  const verified = await rebuildAndCompare({
    ownerUrl,
    schema,
    tables,
    ignoredColumns: { counters: ['seen_at'] },
    projection: countingProjection,
    source,
  });
  expect(verified.tables).toMatchObject([{ rows: 14, missing: 0, extra: 0 }]);
  expect(await db.inOrg(ORGS[0], (tx) => tx.query('SELECT DISTINCT org_id FROM counters'))).toEqual([
    { org_id: ORGS[0] },
  ]);
  stop.abort();
  await Promise.all(running);
  await db.close();
  await asSuperuser(`DROP DATABASE ${NAME} WITH (FORCE)`, ...roles.map((role) => `DROP ROLE ${role}`));
});

import path from 'node:path';
import { eventually, freshDatabase, startSpecProcess } from '@runyard/testing';
import type { TestDatabase } from '@runyard/testing';
import { Client } from 'pg';
import { ensureRoles, roleOf, acrossRoleOf, runMigrations, SchemaTooNew } from '.';
import type { Migration } from '.';
import { slowMigrations } from './spec/slow-migrations';

jest.setTimeout(120_000);

let database: TestDatabase;
let owner: Client;

beforeAll(async () => {
  database = await freshDatabase();
  owner = new Client({ connectionString: database.ownerUrl });
  await owner.connect();
});
afterAll(async () => {
  await owner.end();
  await database.drop();
});

const migrate = (schema: string, migrations: readonly Migration[], roles?: string[]) =>
  runMigrations({ url: database.ownerUrl, schema, migrations, roles });
const advisoryLocks = async () =>
  (
    await owner.query(
      `SELECT FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    )
  ).rowCount;
const OWN = 'CreateProjectionCheckpoints1764400000000';

describe('C80 several instances start at once (typeorm/typeorm#4588)', () => {
  test('twenty rounds of five instances: each step runs once, the others run none, all are ready', async () => {
    for (let round = 0; round < 20; round++) {
      const schema = `crowd_${round}`;
      const ran = await Promise.all(Array.from({ length: 5 }, () => migrate(schema, slowMigrations(0))));
      expect(ran.filter((names) => names.length > 0)).toEqual([
        [OWN, 'CreateItems1764500000000', 'FillItems1764500000001'],
      ]);
      const { rows } = await owner.query(`SELECT name FROM ${schema}.migrations ORDER BY id`);
      expect(rows).toHaveLength(3);
    }
    // The server ends a session a moment after its client has left.
    await eventually(async () => (await advisoryLocks()) === 0);
  });

  test('a slow step makes the others wait, not fail', async () => {
    const log: string[] = [];
    const slow = runMigrations({ url: database.ownerUrl, schema: 'patient', migrations: slowMigrations(1) });
    const second = runMigrations({
      url: database.ownerUrl,
      schema: 'patient',
      migrations: slowMigrations(1),
      log: (line) => log.push(line),
    });
    const ran = await Promise.all([slow, second]);
    expect(ran.map(({ length }) => length).sort()).toEqual([0, 3]);
  });

  test('a migrator that is killed in the middle of a step leaves nothing of it; the next one goes on without help', async () => {
    const child = startSpecProcess(path.join(__dirname, 'spec/migrator-child.ts'), [database.ownerUrl]);
    await eventually(async () => {
      const { rowCount } = await owner.query(
        `SELECT FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND datname = current_database()`,
      );
      return rowCount === 1;
    });
    await child.kill();
    expect(await migrate('slow', slowMigrations(0))).toEqual(['FillItems1764500000001']);
    const { rows } = await owner.query('SELECT count(*)::int AS count FROM slow.items');
    expect(rows).toEqual([{ count: 100 }]);
    // The server ends a session a moment after its client has left.
    await eventually(async () => (await advisoryLocks()) === 0);
  });

  test('an older build refuses a newer schema and changes nothing', async () => {
    await migrate('aged', slowMigrations(0));
    await expect(migrate('aged', slowMigrations(0).slice(0, 1))).rejects.toThrow(SchemaTooNew);
    await expect(migrate('aged', slowMigrations(0).slice(0, 1))).rejects.toThrow(/FillItems1764500000001/);
    // The server ends a session a moment after its client has left.
    await eventually(async () => (await advisoryLocks()) === 0);
  });
});

test('a step that fails is rolled back and can be mended', async () => {
  const broken: Migration = {
    name: 'Break',
    timestamp: 1_764_500_000_002,
    up: 'CREATE TABLE half (id int); SELECT broken',
  };
  await expect(migrate('mended', [...slowMigrations(0), broken])).rejects.toThrow(/broken/);
  expect((await owner.query(`SELECT to_regclass('mended.half') AS half`)).rows).toEqual([{ half: null }]);
  expect(
    await migrate('mended', [...slowMigrations(0), { ...broken, up: 'CREATE TABLE half (id int)' }]),
  ).toEqual(['Break1764500000002']);
});

test('a step outside a transaction may create an index concurrently while others wait', async () => {
  const concurrent: Migration = {
    name: 'IndexItems',
    timestamp: 1_764_500_000_003,
    transactional: false,
    up: 'CREATE INDEX CONCURRENTLY IF NOT EXISTS items_text ON items (text)',
  };
  const ran = await Promise.all(
    Array.from({ length: 3 }, () => migrate('indexed', [...slowMigrations(0), concurrent])),
  );
  expect(ran.filter(({ length }) => length === 4)).toHaveLength(1);
});

test.each(['', 'Upper', 'a-b', 'a; drop'])('%p is no schema name', (schema) =>
  expect(migrate(schema, [])).rejects.toThrow(TypeError),
);

describe('roles', () => {
  test('ten starts at once make them once; they own nothing, bypass nothing, and see their schema only', async () => {
    const services = ['role-spec', 'role-spec-two'];
    await Promise.all(
      Array.from({ length: 10 }, () => ensureRoles(database.ownerUrl, services, () => 'secret')),
    );
    const names = services.flatMap((service) => [roleOf(service), acrossRoleOf(service)]);
    const { rows } = await owner.query(
      `SELECT rolname, rolcanlogin, rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb AS powers,
         (SELECT count(*)::int FROM pg_shdepend d WHERE d.refobjid = r.oid AND d.deptype = 'o') AS owned
       FROM pg_roles r WHERE rolname = ANY($1) ORDER BY rolname`,
      [names],
    );
    expect(rows).toEqual(
      [...names].sort().map((rolname) => ({ rolname, rolcanlogin: true, powers: false, owned: 0 })),
    );
    await migrate('role_spec', [], [roleOf('role-spec'), acrossRoleOf('role-spec')]);
    const [foreign] = (
      await owner.query(`SELECT has_schema_privilege($1, 'role_spec', 'USAGE') AS may`, [
        acrossRoleOf('role-spec-two'),
      ])
    ).rows;
    expect(foreign).toEqual({ may: false });
  });

  test('a role that bypasses row-level security stops the start', async () => {
    await owner.query('CREATE ROLE runyard_careless LOGIN BYPASSRLS');
    try {
      await expect(ensureRoles(database.ownerUrl, ['careless'], () => undefined)).rejects.toThrow(
        /bypasses row-level security/,
      );
    } finally {
      await owner.query('DROP ROLE IF EXISTS runyard_careless; DROP ROLE IF EXISTS runyard_careless_across');
    }
  });
});

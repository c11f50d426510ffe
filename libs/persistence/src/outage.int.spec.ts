import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import { eventually, freshDatabase } from '@runyard/testing';
import type { TestDatabase } from '@runyard/testing';
import { startPostgres } from '../../../deploy/local/postgres.mjs';
import type { RunningPostgres } from '../../../deploy/local/postgres.mjs';
import { positionReached, runProjection } from '.';
import type { Database, Projection } from '.';
import { countingMigrations, countingSource, ORGS } from './spec/counting-projection';

jest.setTimeout(120_000);

/** A server of this spec's own, with passwords, because it is restarted. */
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'runyard-outage-'));
const dataDir = path.join(folder, 'postgres');
let server: RunningPostgres;
let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  fs.chmodSync(folder, 0o755);
  server = await startPostgres({ dataDir, durable: false });
  database = await freshDatabase([{ service: 'counting', migrations: countingMigrations }], {
    url: server.url,
  });
  db = database.connect('counting', { poolSize: 4, acrossPoolSize: 4 });
});
afterAll(async () => {
  await database.drop();
  await server.stop();
  fs.rmSync(folder, { recursive: true, force: true });
});

const restart = async () => {
  const { port } = server;
  await server.stop();
  server = await startPostgres({ dataDir, durable: false, port });
};
const answers = () => db.inOrg(ORGS[0], (tx) => tx.query<{ one: number }>('SELECT 1 AS one'));
const healed = () => eventually(async () => (await answers()).length === 1);
const asSuperuser = async (sql: string, pids: readonly number[]) => {
  const client = new Client({ connectionString: database.ownerUrl });
  await client.connect();
  const { rows } = await client.query(sql, [pids]);
  await client.end();
  return rows;
};
/** Ends connections and waits until they are gone. */
const terminate = (pids: readonly number[]) =>
  asSuperuser('SELECT pg_terminate_backend(pid, 5000) FROM unnest($1::int[]) AS pid', pids);

test('the password of the superuser is kept from everybody else, and roles log in with their own', async () => {
  expect(fs.statSync(`${dataDir}.password`).mode & 0o777).toBe(0o600);
  const wrong = database.connect('counting', {
    url: database.urlFor('counting').replace(/:[^:@]+@/, ':wrong@'),
  });
  await expect(wrong.inOrg(ORGS[0], async () => 1)).rejects.toThrow(/password authentication failed/);
  expect(await answers()).toEqual([{ one: 1 }]);
});

describe('C70 losing the database loses requests, not the process (brianc/node-postgres#2439)', () => {
  test('a connection that is lost inside a transaction, between its queries, fails that request as `unavailable`', async () => {
    const lost = db.inOrg(ORGS[0], async (tx) => {
      const [row] = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      // The client learns of it while no query runs: nobody but our listener hears the error.
      await terminate([row!.pid]);
      await tx.query('SELECT 1');
    });
    await expect(lost).rejects.toMatchObject({ code: 'unavailable' });
    await healed();
  });

  test('idle connections that are lost are replaced', async () => {
    await Promise.all([answers(), answers(), answers()]);
    const idle = await asSuperuser(
      `SELECT pid FROM pg_stat_activity WHERE state = 'idle' AND NOT pid = ANY($1) AND usename LIKE 'runyard_counting%'`,
      [],
    );
    expect(idle.length).toBeGreaterThan(2);
    await terminate(idle.map(({ pid }) => pid));
    await healed();
  });

  test('a session that is lost says so', async () => {
    const session = await db.dedicated('spec');
    const [row] = await session.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    await terminate([row!.pid]);
    await eventually(() => session.lost.aborted);
    await expect(session.query('SELECT 1')).rejects.toThrow(/terminat|not queryable|ECONN/i);
    await session.close();
  });

  test('five restarts under load: requests fail as `unavailable` meanwhile, and the pool heals', async () => {
    const outcomes = new Map<string, number>();
    let over = false;
    const client = async () => {
      while (!over) {
        const outcome = await answers().then(
          () => 'ok',
          (error: { code?: string; message: string }) =>
            error.code === 'unavailable' ? 'unavailable' : error.message,
        );
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        if (outcome !== 'ok') await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    const clients = [client(), client(), client(), client()];
    for (let round = 0; round < 5; round++) {
      await restart();
      const since = performance.now();
      await healed();
      expect(performance.now() - since).toBeLessThan(60_000);
    }
    over = true;
    await Promise.all(clients);
    expect([...outcomes.keys()].sort()).toEqual(['ok', 'unavailable']);
  });

  test('a projector lives through a restart and loses nothing', async () => {
    const last = 20_000;
    const stop = new AbortController();
    const projection: Projection = {
      name: 'summing',
      version: 1,
      stream: 'RUNS',
      apply: async (tx, commits) => {
        await tx.query(
          `INSERT INTO counters VALUES ($1, 'all', $2, 0, 0) ON CONFLICT (org_id, id) DO UPDATE SET commits = counters.commits + $2`,
          [ORGS[0], commits.length],
        );
      },
    };
    const running = runProjection({
      db,
      source: countingSource(last),
      projection,
      signal: stop.signal,
      batchSize: 20,
    });
    expect(await positionReached(db, projection, 500, 60_000)).toBe(true);
    await restart();
    await eventually(async () => positionReached(db, projection, last, 60_000), { withinMs: 60_000 });
    stop.abort();
    await running;
    const rows = await db.acrossOrgs('spec', (tx) =>
      tx.query(`SELECT commits FROM counters WHERE id = 'all'`),
    );
    expect(rows).toEqual([{ commits: BigInt(last) }]);
  });

  test('a client in a failed transaction does not reach the next request, and listeners do not add up', async () => {
    const warnings: string[] = [];
    const listen = (warning: Error) => warnings.push(warning.message);
    process.on('warning', listen);
    const one = database.connect('counting', { poolSize: 1 });
    for (let round = 0; round < 30; round++) {
      await expect(one.inOrg(ORGS[0], (tx) => tx.query('SELECT broken'))).rejects.toThrow(/broken/);
      expect(await one.inOrg(ORGS[0], (tx) => tx.query('SELECT 1 AS one'))).toEqual([{ one: 1 }]);
    }
    process.off('warning', listen);
    expect(warnings).toEqual([]);
  });
});

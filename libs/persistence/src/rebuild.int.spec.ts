import { freshDatabase, MemorySource } from '@runyard/testing';
import type { TestDatabase } from '@runyard/testing';
import {
  archiveProjection,
  archiveSource,
  enableTenantPolicies,
  positionReached,
  rebuildAndCompare,
  runProjection,
  SourceTooShort,
} from '.';
import type { Database, Migration, Projection, RebuildOptions } from '.';
import { countedCommit, ORGS } from './spec/counting-projection';

jest.setTimeout(120_000);

/** Two tables with a cascade between them, a generated id, an operational column, and a table that is only read. */
const migrations: Migration[] = [
  {
    name: 'CreateBooks',
    timestamp: 1_764_500_000_000,
    up: `
      CREATE TABLE names (org_id uuid PRIMARY KEY, name text NOT NULL);
      CREATE TABLE books (org_id uuid NOT NULL, id text PRIMARY KEY, name text, total int8 NOT NULL, heartbeat_at timestamptz DEFAULT clock_timestamp());
      CREATE TABLE lines (line int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY, org_id uuid NOT NULL,
        book text NOT NULL REFERENCES books ON DELETE CASCADE, sequence int8 NOT NULL);
      ${['names', 'books', 'lines'].map((table) => enableTenantPolicies('books', table)).join('')}`,
  },
];

const projection: Projection = {
  name: 'books',
  version: 1,
  stream: 'RUNS',
  async apply(tx, commits) {
    for (const { subject, sequence } of commits) {
      const [, , , org, id] = subject.split('.');
      if (sequence % 10 === 0) {
        await tx.query('DELETE FROM books WHERE id = $1', [id]);
        continue;
      }
      await tx.query(
        `INSERT INTO books AS b (org_id, id, name, total) VALUES ($1, $2, (SELECT name FROM names WHERE org_id = $1), $3)
         ON CONFLICT (id) DO UPDATE SET total = b.total + excluded.total`,
        [org, id, sequence],
      );
      await tx.query('INSERT INTO lines (org_id, book, sequence) VALUES ($1, $2, $3)', [org, id, sequence]);
    }
  },
};

let database: TestDatabase;
let db: Database;
let source: MemorySource;

beforeEach(async () => {
  database = await freshDatabase([{ service: 'books', migrations }]);
  db = database.connect('books');
  await change(`INSERT INTO names VALUES ('${ORGS[0]}', 'one'), ('${ORGS[1]}', 'two')`);
  source = new MemorySource();
  await project(57);
});
afterEach(() => database.drop());

const change = (sql: string) => db.acrossOrgs('spec', (tx) => tx.query(sql));

/** Runs the archive and the projection up to `last`. */
async function project(last: number, projections = [archiveProjection('RUNS'), projection]): Promise<void> {
  const from = source.lastSequence + 1;
  source.append(...Array.from({ length: last + 1 - from }, (_, index) => countedCommit(from + index)));
  const stop = new AbortController();
  const running = projections.map((one) =>
    runProjection({ db, source, projection: one, signal: stop.signal }),
  );
  for (const one of projections) expect(await positionReached(db, one, last, 20_000)).toBe(true);
  stop.abort();
  await Promise.all(running);
}

const verify = (options: Partial<RebuildOptions> = {}) =>
  rebuildAndCompare({
    ownerUrl: database.ownerUrl,
    schema: 'books',
    tables: ['books', 'lines'],
    lookupTables: ['names'],
    ignoredColumns: { books: ['heartbeat_at'], lines: ['line'] },
    projection,
    source: archiveSource(db, 'RUNS'),
    ...options,
  });

test('a projection equals its rebuild, at exactly its own position', async () => {
  const archived = archiveProjection('RUNS');
  await project(80, [archived]);
  const { position, tables } = await verify();
  expect(position).toBe(57);
  const nothing = { missing: 0, extra: 0, samples: { missing: [], extra: [] } };
  expect(tables).toEqual([
    { table: 'books', rows: expect.any(Number), ...nothing },
    { table: 'lines', rows: expect.any(Number), ...nothing },
  ]);
  expect(tables[0]!.rows).toBeGreaterThan(3);
});

test('a row too many, one too few and one that is wrong are found and shown', async () => {
  await change(
    `INSERT INTO lines (org_id, book, sequence) SELECT org_id, book, sequence FROM lines ORDER BY line LIMIT 1`,
  );
  await change(`DELETE FROM lines WHERE line = (SELECT max(line) - 1 FROM lines)`);
  await change(`UPDATE books SET total = total + 1 WHERE id = 'run_1'`);
  const { tables } = await verify();
  expect(tables[0]).toMatchObject({ table: 'books', missing: 1, extra: 1 });
  expect(tables[0]!.samples.extra[0]).toMatchObject({ id: 'run_1', name: expect.stringMatching(/one|two/) });
  expect(tables[0]!.samples.extra[0]).not.toHaveProperty('heartbeat_at');
  expect(tables[1]).toMatchObject({ table: 'lines', missing: 1, extra: 1 });
});

test('it runs beside a projector that goes on, changes nothing, and leaves nothing behind', async () => {
  const before = await change('SELECT count(*) FROM books');
  const during: Projection = {
    ...projection,
    apply: async (tx, commits) => {
      if (source.lastSequence === 57) await project(70);
      await projection.apply(tx, commits);
    },
  };
  const { position, tables } = await verify({ projection: during });
  expect(position).toBe(57);
  expect(tables.every(({ missing, extra }) => missing === 0 && extra === 0)).toBe(true);
  expect(before).toHaveLength(1);
  expect(await change(`SELECT FROM pg_namespace WHERE nspname = 'verify_scratch'`)).toEqual([]);
});

test('a table that was not declared is out of the projection’s reach', async () => {
  await expect(verify({ tables: ['books'] })).rejects.toThrow(/relation "lines" does not exist/);
  await expect(verify({ tables: ['books'], workTables: ['lines'] })).resolves.toMatchObject({ position: 57 });
  await expect(verify({ ignoredColumns: { books: ['nonsense'] } })).rejects.toThrow(/no column nonsense/);
});

test('a source of another incarnation, or a projection that never ran, is refused', async () => {
  const anew = new MemorySource();
  anew.append(countedCommit(1));
  await expect(verify({ source: anew })).rejects.toThrow(SourceTooShort);
  await expect(verify({ projection: { ...projection, version: 2 } })).rejects.toThrow(
    /books@2 has never run/,
  );
});

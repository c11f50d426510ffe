import { freshDatabase } from '@runyard/testing';
import type { TestDatabase } from '@runyard/testing';
import { Client } from 'pg';
import { enableTenantPolicies, RowChanges, Statements } from '.';
import type { Database, Migration, Tx } from '.';

const SERVICE = 'shelf-keeper';
const ORG = '11111111-1111-4111-8111-111111111111';
const migrations: Migration[] = [
  {
    name: 'CreateShelves',
    timestamp: 1_764_500_000_000,
    up: `CREATE TABLE shelves (org_id uuid NOT NULL, id text NOT NULL, books int NOT NULL CHECK (books >= 0), PRIMARY KEY (org_id, id));
         ${enableTenantPolicies(SERVICE, 'shelves')}`,
  },
];
const PUT = `INSERT INTO shelves (org_id, id, books) SELECT * FROM json_to_recordset($1::json) AS r (org_id uuid, id text, books int)`;
const shelf = (id: string, books = 1) => ({ org_id: ORG, id, books });

let database: TestDatabase;
let db: Database;

beforeEach(async () => {
  database = await freshDatabase([{ service: SERVICE, migrations }]);
  db = database.connect(SERVICE, { acrossPoolSize: 1 });
});
afterEach(() => database.drop());

const ids = () =>
  db.acrossOrgs('spec', async (tx) =>
    (await tx.query<{ id: string }>('SELECT id FROM shelves ORDER BY id')).map(({ id }) => id),
  );

describe('statements that do not wait for each other', () => {
  test('act in the order in which they were sent', async () => {
    await db.acrossOrgs('spec', async (tx) => {
      const to = new Statements(tx);
      to.add(PUT, [shelf('a'), shelf('b')]);
      to.add(PUT, []);
      to.send('DELETE FROM shelves WHERE id = $1', ['a']);
      to.add(PUT, [shelf('a', 7)]);
      await to.done();
      expect(await tx.query('SELECT books FROM shelves ORDER BY id')).toEqual([{ books: 7 }, { books: 1 }]);
    });
    expect(await ids()).toEqual(['a', 'b']);
  });

  test.each([undefined, true])(
    'come to nothing, all of them, where one fails, and its error is told (repeated: %s)',
    async (repeated) => {
      const write = (books: number) =>
        db.acrossOrgs(
          'spec',
          async (tx) => {
            const to = new Statements(tx);
            to.add(PUT, [shelf('a')]);
            to.add(PUT, [shelf('b', books)]);
            // Only the failure before lets this one fail too.
            to.send('UPDATE shelves SET books = books + 1');
            await to.done();
          },
          { repeated },
        );
      await expect(write(-1)).rejects.toThrow(/check constraint/);
      expect(await ids()).toEqual([]);
      await write(1);
      expect(await ids()).toEqual(['a', 'b']);
    },
  );

  test('leave nothing to be told where the work fails before it asks how they did', async () => {
    const work = async (tx: Tx) => {
      new Statements(tx).add(PUT, [shelf('a', -1)]);
      throw new Error('changed its mind');
    };
    await expect(db.acrossOrgs('spec', work)).rejects.toThrow('changed its mind');
    expect(await ids()).toEqual([]);
  });
});

/** Plans of the statements that a transaction sends, none of which is carried out. */
async function plansOf(work: (tx: Tx) => Promise<unknown>): Promise<string[]> {
  const plans: string[] = [];
  await db.acrossOrgs(
    'spec',
    async (tx) => {
      const explaining: Tx = {
        query: async <Row>(sql: string, params?: readonly unknown[]) => {
          const lines = await tx.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${sql}`, params);
          plans.push(lines.map((line) => line['QUERY PLAN']).join('\n'));
          return [] as Row[];
        },
      };
      await work(explaining);
    },
    { repeated: true },
  );
  return plans;
}

test('a migration under a running service costs one transaction, not a connection that refuses for ever', async () => {
  const read = async (tx: Tx) => {
    try {
      return await tx.query('SELECT * FROM shelves');
    } catch (error) {
      // As a projection does, whose commit cannot be applied.
      throw new Error('poison', { cause: error });
    }
  };
  const all = () => db.acrossOrgs('spec', read, { repeated: true });
  expect(await all()).toEqual([]);
  const owner = new Client({ connectionString: database.ownerUrl });
  await owner.connect();
  await owner.query(`ALTER TABLE "${SERVICE.replace('-', '_')}".shelves ADD COLUMN room text`);
  await owner.end();
  await expect(all()).rejects.toMatchObject({ cause: { message: expect.stringContaining('cached plan') } });
  expect(await all()).toEqual([]);
});

test('repeated work finds rows by index, also in a table that is empty when its statements are planned', async () => {
  const table = { name: 'shelves', key: ['org_id', 'id'], columns: ['books'] } as const;
  const plans = await plansOf(async (tx) => {
    const rows = await RowChanges.load<ReturnType<typeof shelf>>(tx, table, [{ org_id: ORG, id: 'a' }]);
    rows.delete({ org_id: ORG, id: 'a' });
    await rows.save(tx);
    await tx.query(
      'UPDATE shelves s SET books = 2 FROM json_to_recordset($1::json) AS r (org_id uuid, id text) WHERE (s.org_id, s.id) = (r.org_id, r.id)',
      ['[]'],
    );
  });
  expect(plans).toHaveLength(3);
  for (const plan of plans) {
    expect(plan).toContain('shelves_pkey');
    expect(plan).not.toContain('Seq Scan');
  }
});

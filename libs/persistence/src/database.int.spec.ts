import { randomUUID } from 'node:crypto';
import { freshDatabase } from '@runyard/testing';
import type { TestDatabase } from '@runyard/testing';
import { enableTenantPolicies, toSafeInteger } from '.';
import type { Database, Migration } from '.';

const migrations: Migration[] = [
  {
    name: 'CreateNotes',
    timestamp: 1_764_500_000_000,
    up: `CREATE TABLE notes (id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY, org_id uuid NOT NULL, text text NOT NULL);
         ${enableTenantPolicies('note-keeper', 'notes')}`,
  },
];

jest.setTimeout(30_000);
let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await freshDatabase([{ service: 'note-keeper', migrations }]);
  db = database.connect('note-keeper', { poolSize: 1 });
});
afterAll(() => database.drop());

const A = randomUUID();
const B = randomUUID();

test('an org sees its own rows only', async () => {
  await db.inOrg(A, (tx) => tx.query('INSERT INTO notes (org_id, text) VALUES ($1, $2)', [A, 'a']));
  await db.inOrg(B, (tx) => tx.query('INSERT INTO notes (org_id, text) VALUES ($1, $2)', [B, 'b']));
  expect(await db.inOrg(A, (tx) => tx.query('SELECT text FROM notes'))).toEqual([{ text: 'a' }]);
  const [row] = await db.acrossOrgs('count', (tx) =>
    tx.query<{ count: bigint }>('SELECT count(*) FROM notes'),
  );
  expect(toSafeInteger(row!.count)).toBe(2);
});

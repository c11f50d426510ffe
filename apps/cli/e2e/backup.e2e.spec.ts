import { Client } from 'pg';
import { Traces } from './traces';
import { QUICK } from './turns';
import { World } from './world';

// docs/upgrade.md, "Restore": the database is lost, the bus is well. The copy is made by the server itself, as a template.

jest.setTimeout(240_000);

let world: World;
beforeAll(async () => {
  world = await World.open({ recordings: { quick: QUICK } });
});
afterAll(() => world?.close());

/** Statements that no database can be told about itself. */
async function beside(...statements: string[]): Promise<void> {
  const url = new URL(world.database.ownerUrl);
  url.pathname = '/postgres';
  const client = new Client({ connectionString: url.href });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

test('a database that is restored from a backup reads on from the streams: nothing since the backup is lost', async () => {
  const name = new URL(world.database.ownerUrl).pathname.slice(1);
  const copy = `${name}_backup`;
  const before = await world.ran('quick', 'before the backup');
  await world.withoutDatabase(() => beside(`CREATE DATABASE "${copy}" TEMPLATE "${name}"`));
  const since = await world.ran('quick', 'since the backup');
  await world.withoutDatabase(() =>
    beside(
      `DROP DATABASE "${name}" WITH (FORCE)`,
      `CREATE DATABASE "${name}" TEMPLATE "${copy}"`,
      `DROP DATABASE "${copy}"`,
    ),
  );
  const after = await world.ran('quick', 'after the restore');
  for (const runId of [before, since, after])
    expect([runId, (await world.row(runId))?.state]).toEqual([runId, 'succeeded']);
  await new Traces(world).areProven();
  const archived = `SELECT count(DISTINCT subject)::int FROM archive.event_log WHERE stream = 'RUNS' AND subject LIKE 'runyard.runs.%'`;
  expect(await world.value(archived)).toBe(3);
});

import { freshDatabase } from '@runyard/testing';
import { Client } from 'pg';
import { placedEntries } from '../projections/run-tables';
import { entriesOfBatches } from './0012-entries-of-batches';
import { RUN_MIGRATIONS } from '.';

jest.setTimeout(60_000);

test('entries of runs that are under way at the upgrade keep their places and their texts', async () => {
  const before = RUN_MIGRATIONS.slice(0, RUN_MIGRATIONS.indexOf(entriesOfBatches));
  await using database = await freshDatabase([{ service: 'run-executor', migrations: before }]);
  const owner = new Client({ connectionString: database.ownerUrl });
  await owner.connect();
  try {
    await owner.query('SET search_path = run_executor');
    // The rows alone matter here, not the run that they belong to.
    await owner.query('SET session_replication_role = replica');
    const org = '11111111-1111-4111-8111-111111111111';
    const entries = [
      { kind: 'message', content: 'a "b" \\u0000 é' },
      { kind: 'tool_call', arguments: '{"n":1.0}' },
    ];
    for (const [index, entry] of entries.entries())
      await owner.query('INSERT INTO run_entries (run_id, place, org_id, entry) VALUES ($1, $2, $3, $4)', [
        'run_1',
        7 - index,
        org,
        JSON.stringify(entry),
      ]);
    await owner.query(String(entriesOfBatches.up));
    const { rows } = await owner.query(`${placedEntries('run_entries')} ORDER BY place`);
    expect(rows).toEqual([
      { run_id: 'run_1', org_id: org, place: 6, entry: entries[1] },
      { run_id: 'run_1', org_id: org, place: 7, entry: entries[0] },
    ]);
  } finally {
    await owner.end();
  }
});

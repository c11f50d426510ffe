import { eventually } from '@runyard/testing';
import { Traces, marker } from './traces';
import { QUICK } from './turns';
import { World } from './world';

// How long an org keeps its runs: said by an admin, carried out by the executor (rows) and by the operators' sweep (log).

jest.setTimeout(240_000);

let world: World;
let traces: Traces;
beforeAll(async () => {
  world = await World.open({ recordings: { quick: QUICK }, executor: { retentionEveryMs: 300 } });
  traces = new Traces(world);
});
afterAll(() => world?.close());

/** As if a run had begun some days ago. */
const aged = (runId: string, days: number) =>
  world.owner.query(
    `UPDATE run_executor.agent_runs SET created_at = created_at - $2 * interval '1 day',
       started_at = started_at - $2 * interval '1 day' WHERE run_id = $1`,
    [runId, days],
  );

test('nothing goes by default; once the org has said so, rows go in the background and texts with the sweep', async () => {
  const text = marker();
  const old = await world.ran('quick', text);
  const young = await world.ran('quick', 'young');
  await aged(old, 31);
  expect(
    (await world.api.call<{ retention_days: number | null }>('GET', '/v1/org')).retention_days,
  ).toBeNull();
  const looked = await world.runyard('retention', 'sweep', '--yes');
  expect([looked.code, looked.said]).toEqual([0, expect.stringContaining('No run is that old')]);
  expect(await world.row(old)).toBeDefined();

  const said = await world.runyard('retention', 'set', '30');
  expect(said.out).toEqual([`${world.org} keeps its runs for 30 days`]);
  await eventually(async () => (await world.row(old)) === undefined, { withinMs: 30_000 });
  expect((await world.row(young))?.state).toBe('succeeded');
  const deleted = `SELECT body LIKE '%system:retention%' FROM archive.event_log WHERE stream = 'RUNS' AND subject LIKE $1 ORDER BY sequence DESC LIMIT 1`;
  await eventually(async () => (await world.value<boolean>(deleted, [`%${old}`])) === true);
  expect((await traces.of(text)).length).toBeGreaterThan(0);

  // The row is gone; its tombstone is as old as the run's end, which the spec cannot move in the log.
  await world.owner.query(
    `UPDATE run_executor.deleted_runs SET ended_at = ended_at - interval '31 days' WHERE run_id = $1`,
    [old],
  );
  const shown = await world.runyard('retention', 'show');
  expect(shown.out.join('\n')).toMatch(new RegExp(`${world.org} +keeps its runs for 30 days +1`));
  const preview = await world.runyard('retention', 'sweep', '--dry-run');
  expect(preview.said).toMatch(/deleted +1/);
  expect((await world.runyard('retention', 'sweep', '--yes')).code).toBe(0);
  expect(await traces.of(text)).toEqual([]);
  expect((await world.row(young))?.state).toBe('succeeded');
  await traces.areProven();
});

test('an admin takes it back, also by the API; nonsense is refused', async () => {
  expect((await world.runyard('retention', 'set', 'never')).out).toEqual([
    `${world.org} keeps its runs for ever`,
  ]);
  const set = (retention_days: unknown) => world.api.call('PATCH', '/v1/org', { retention_days });
  expect(await set(90)).toMatchObject({ retention_days: 90, name: 'Org' });
  await expect(set(0)).rejects.toThrow('must be at least 1');
  expect((await world.runyard('retention', 'set', 'soon')).code).toBe(2);
  await set(null);
  const setting = 'SELECT run_days FROM run_executor.retention_settings WHERE org_id = $1';
  await eventually(async () => (await world.value(setting, [world.org])) === null);
});

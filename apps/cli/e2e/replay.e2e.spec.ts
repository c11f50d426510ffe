import { eventually } from '@runyard/testing';
import { QUICK } from './turns';
import { World } from './world';

jest.setTimeout(180_000);

let world: World;
beforeAll(async () => {
  world = await World.open({ recordings: { quick: QUICK } });
  for (let index = 0; index < 8; index++) await world.ran('quick', `Question ${index}`);
});
afterAll(() => world?.close());

const forge = () =>
  world.owner.query(
    `SET session_replication_role = replica;
     UPDATE run_executor.agent_runs SET output = 'forged' WHERE run_id = (SELECT min(run_id) FROM run_executor.agent_runs);
     DELETE FROM run_executor.agent_steps WHERE run_id = (SELECT max(run_id) FROM run_executor.agent_runs);
     SET session_replication_role = origin`,
  );
const isProven = async () => (await world.runyard('verify', 'runs')).code;
const schemas = () =>
  world.value<string>(`SELECT count(*)::text FROM pg_namespace WHERE nspname LIKE 'replay_%'`);

test.each(['stream', 'archive'])(
  'rows that went wrong are made anew from the %s, beside and switched over',
  async (source) => {
    await forge();
    expect(await isProven()).toBe(1);
    const { code, out } = await world.runyard('replay', 'runs', '--source', source, '--yes');
    expect(code).toBe(0);
    expect(out).toContain('run_executor.agent_runs: 1 rows out, 1 rows in');
    expect(out).toContain('run_executor.agent_steps: 0 rows out, 1 rows in');
    expect(out.at(-1)).toMatch(/^replay: runs switched over at \d+$/);
    expect(await isProven()).toBe(0);
    expect(await schemas()).toBe('0');
  },
);

test('C58 nothing happens but rows, live events during a rebuild are in it once, and its projector goes on (spatie/laravel-event-projector#29)', async () => {
  await forge();
  const before = await world.runyard('streams', '--json');
  const replaying = world.runyard('replay', 'runs', '--yes');
  const during = await world.ran('quick', 'during the rebuild');
  expect((await replaying).code).toBe(0);
  const after = await world.ran('quick', 'after the rebuild');
  expect(await isProven()).toBe(0);
  expect([(await world.row(during))?.state, (await world.row(after))?.state]).toEqual([
    'succeeded',
    'succeeded',
  ]);
  const queues = (text: string[]) =>
    (JSON.parse(text.join('')) as { streams: { name: string; messages: number }[] }).streams
      .filter(({ name }) => ['DEAD', 'PEOPLE', 'AGENTS', 'SCHEDULES'].includes(name))
      .map(({ name, messages }) => [name, messages]);
  expect(queues((await world.runyard('streams', '--json')).out)).toEqual(queues(before.out));
});

test('every projection can be made anew in place, and its projector goes on', async () => {
  await world.owner.query(`UPDATE agent_registry.organizations SET name = 'forged'`);
  const { code } = await world.runyard('replay', 'registry-people', '--in-place', '--yes');
  expect(code).toBe(0);
  expect(await world.value('SELECT name FROM agent_registry.organizations')).toBe('Org');
  await world.api.call('PATCH', '/v1/org', { name: 'Renamed' });
  await eventually(
    async () => (await world.value('SELECT name FROM agent_registry.organizations')) === 'Renamed',
  );
  expect((await world.runyard('verify', 'registry-people')).code).toBe(0);
});

test('what an earlier version skipped is read again from its place on, onto the live rows', async () => {
  await world.owner.query(`DELETE FROM scheduler.schedule_orgs`);
  const how = ['--in-place', '--from', '1', '--source', 'archive', '--yes'];
  const { code } = await world.runyard('replay', 'scheduler-people', ...how);
  expect(code).toBe(0);
  expect(await world.value('SELECT count(*)::int FROM scheduler.schedule_orgs')).toBe(1);
});

test('the rows as of a position or a time lie beside until they are dropped; a replay that was interrupted goes on', async () => {
  const runs = await world.owner.query<{ run_id: string; sequence: string }>(
    'SELECT run_id, sequence FROM run_executor.agent_runs ORDER BY sequence',
  );
  const [, , third] = runs.rows;
  const asOf = await world.runyard('replay', 'runs', '--to', third?.sequence ?? '');
  expect(asOf.out).toEqual([`replay_run_executor_runs holds the rows as of ${third?.sequence}`]);
  const count = () => world.value<number>('SELECT count(*)::int FROM replay_run_executor_runs.agent_runs');
  expect(await count()).toBe(3);
  const more = await world.runyard('replay', 'runs', '--to', new Date(Date.now() + 60_000).toISOString());
  expect(more.said).toContain(`Going on after ${third?.sequence}`);
  expect(await count()).toBe(runs.rows.length);
  await world.runyard('replay', 'runs', '--drop');
  expect(await schemas()).toBe('0');
  expect(await isProven()).toBe(0);
});

test('--dry-run says what would be done and does nothing; what is destructive wants a word', async () => {
  const { code, out } = await world.runyard('replay', 'runs', '--dry-run');
  expect(code).toBe(0);
  expect(out[0]).toMatch(/^runs: commits after 0 up to \d+ of RUNS, read from the stream$/);
  expect(await schemas()).toBe('0');
  expect((await world.runyard('replay', 'runs', '--in-place')).said).toContain('pass --yes');
  expect((await world.runyard('replay', 'rums')).said).toContain('There is no projection rums');
  expect((await world.runyard('replay', 'runs', '--to', '99999999')).said).toMatch(/RUNS ends at \d+/);
});

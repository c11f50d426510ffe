import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { QUICK } from './turns';
import { World } from './world';

jest.setTimeout(240_000);

let world: World;
beforeAll(async () => {
  world = await World.open({ recordings: { quick: QUICK } });
});
afterAll(() => world?.close());

function logFolder(): string {
  const args = readFileSync(`/proc/${world.nats.pid}/cmdline`, 'utf8').split('\0');
  const config = readFileSync(args[args.indexOf('-c') + 1] ?? '', 'utf8');
  return /store_dir:?\s*"?([^"\s]+)/.exec(config)?.[1] ?? '';
}

const events = async (runId: string) => (await world.runyard('runs', 'export', runId)).out;

test('a stream whose directory was deleted is restored: same sequences, nothing lost that was projected, and it goes on', async () => {
  const runs: string[] = [];
  for (const text of ['one', 'two', 'three']) runs.push(await world.ran('quick', text));
  await world.runyard('erase', 'run', runs[1] ?? '', '--yes');
  const [before, after] = [await events(runs[0] ?? ''), await events(runs[2] ?? '')];
  const streamed = await fetch(`${world.platform.apiUrl}/v1/runs/${runs[2]}/events?limit=1`, {
    headers: { authorization: `Bearer ${world.key}` },
  });
  const { next_cursor } = (await streamed.json()) as { next_cursor: string };
  await world.restart(async () => {
    const folder = logFolder();
    await world.nats.kill();
    rmSync(join(folder, 'jetstream/$G/streams/RUNS'), { recursive: true });
    await world.nats.restart();
    expect((await world.runyard('archive', 'restore', 'RUNS')).said).toContain('pass --yes');
    const { code, out, said } = await world.runyard('archive', 'restore', 'RUNS', '--yes');
    expect([code, out[0], said]).toEqual([
      0,
      expect.stringMatching(/^RUNS: \d+ commits up to \d+, incarnation /),
      expect.stringMatching(/\d+ readers go on where they were/),
    ]);
    const again = await world.runyard('archive', 'restore', 'RUNS', '--yes');
    expect([again.code, again.said]).toEqual([2, expect.stringContaining('only a lost or empty one')]);
  });
  expect([await events(runs[0] ?? ''), await events(runs[2] ?? '')]).toEqual([before, after]);
  const expired = await fetch(
    `${world.platform.apiUrl}/v1/runs/${runs[2]}/events?after=${encodeURIComponent(next_cursor)}`,
    { headers: { authorization: `Bearer ${world.key}` } },
  );
  expect(expired.status).toBe(410);
  const next = await world.ran('quick', 'four');
  expect((await world.row(next))?.state).toBe('succeeded');
  for (const from of ['stream', 'archive'])
    expect((await world.runyard('verify', 'runs', '--from', from)).code).toBe(0);
});

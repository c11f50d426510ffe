import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@runyard/testing';
import { startPostgres } from '../../../deploy/local/postgres.mjs';
import { Traces } from './traces';
import { QUICK } from './turns';
import { World } from './world';

// docs/upgrade.md, "Restore", with the tools that it names. A dump is read by tools of its server's version, and the
// binaries from npm hold none: Debian's do.

jest.setTimeout(240_000);

const TOOLS = ['postgres', 'initdb', 'pg_basebackup', 'pg_dump', 'pg_dumpall', 'pg_restore', 'psql'];
const ROOT = '/usr/lib/postgresql';
/** The folder that `from: 'debian'` takes as well. */
const bin = (existsSync(ROOT) ? readdirSync(ROOT) : [])
  .filter((major) => Number(major) >= 15)
  .toSorted((one, other) => Number(other) - Number(one))
  .map((major) => join(ROOT, major, 'bin'))
  .find((folder) => TOOLS.every((tool) => existsSync(join(folder, tool))));

let folder: string;
let world: World;
let server: Awaited<ReturnType<typeof startPostgres>>;

/** Durable: a server that does not care for its own log has none to archive. */
const start = (name: string, port?: number) =>
  startPostgres({ dataDir: join(folder, name), durable: true, trust: true, from: 'debian', port });
const run = (tool: string, args: readonly string[], account = {}) =>
  execFileSync(join(bin ?? '', tool), args, {
    ...account,
    cwd: '/',
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });

/** A server that archives every segment of its write-ahead log. */
async function archiving(): Promise<void> {
  server = await start('lived');
  const wal = join(folder, 'wal');
  mkdirSync(wal);
  const { uid, gid } = statSync(join(folder, 'lived'));
  chownSync(wal, uid, gid);
  // No power is cut here.
  for (const setting of ['fsync = off', 'archive_mode = on', `archive_command = 'cp %p ${wal}/%f'`])
    run('psql', ['-q', '-d', server.url, '-c', `ALTER SYSTEM SET ${setting}`]);
  await server.stop();
  server = await start('lived', server.port);
}

/** The server's files as they lie while it works. */
function baseBackup(): void {
  const target = join(folder, 'recovered');
  const account = statSync(join(folder, 'lived'));
  mkdirSync(target, { mode: 0o700 });
  chownSync(target, account.uid, account.gid);
  const args = ['-D', target, '-d', server.url, '-c', 'fast', '-X', 'stream'];
  run('pg_basebackup', args, { uid: account.uid, gid: account.gid });
}

/** The base backup, and what the archived log says up to an instant. */
async function recovered(until: string): Promise<void> {
  await server.stop();
  const settings = [
    `restore_command = 'cp ${join(folder, 'wal')}/%f %p'`,
    `recovery_target_time = '${until}'`,
    `recovery_target_action = 'promote'`,
  ];
  appendFileSync(join(folder, 'recovered/postgresql.auto.conf'), `\n${settings.join('\n')}\n`);
  writeFileSync(join(folder, 'recovered/recovery.signal'), '');
  server = await start('recovered', server.port);
}

/** The server has gone with all that it had, and another one has its place: the dump is all there is. */
async function onAnotherServer(): Promise<void> {
  const { ownerUrl, name } = world.database;
  await server.stop();
  server = await start('fresh', server.port);
  run('psql', ['-q', '-d', server.url, '-f', join(folder, 'roles.sql')]);
  run('psql', ['-q', '-v', 'ON_ERROR_STOP=1', '-d', server.url, '-c', `CREATE DATABASE ${name}`]);
  run('pg_restore', ['--exit-on-error', '-d', ownerUrl, join(folder, 'runyard.dump')]);
}

/** With the bus stopped: its files lie still. */
async function withoutBus(work: () => void): Promise<void> {
  await world.nats.stop();
  work();
  await world.nats.restart();
}

beforeAll(async () => {
  if (!bin) return;
  folder = mkdtempSync(join(tmpdir(), 'runyard-dump-'));
  chmodSync(folder, 0o755);
  await archiving();
  world = await World.open({ recordings: { quick: QUICK }, server: server.url });
});
afterAll(async () => {
  await world?.close();
  await server?.stop();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

const ifThere = bin ? test : test.skip;
if (!bin) console.warn(`Not tested: no ${TOOLS.join(', ')} of one version below ${ROOT}`);

ifThere(
  'a base backup is recovered to a point in time by the archived log, and what came after it is read from the streams',
  async () => {
    const runs = [await world.ran('quick', 'before the base backup')];
    baseBackup();
    runs.push(await world.ran('quick', 'since then'));
    const until = await world.value<string>('SELECT clock_timestamp()::text');
    runs.push(await world.ran('quick', 'after the point in time'));
    run('psql', ['-q', '-d', server.url, '-c', 'SELECT pg_switch_wal()']);
    await world.withoutDatabase(async () => {
      await recovered(until);
      const sql = 'SELECT count(*) FROM run_executor.agent_runs';
      expect(run('psql', ['-At', '-d', world.database.ownerUrl, '-c', sql]).trim()).toBe('2');
    });
    for (const runId of runs)
      await eventually(async () => (await world.row(runId))?.state === 'succeeded', { withinMs: 30_000 });
  },
);

// Of the server that was recovered: its rows are verified here with the others.
ifThere(
  'a dump is restored into a fresh server, and the services go on from it by the same streams',
  async () => {
    const before = await world.ran('quick', 'before the dump');
    run('pg_dump', ['-Fc', '-d', world.database.ownerUrl, '-f', join(folder, 'runyard.dump')]);
    run('pg_dumpall', ['--roles-only', '-d', world.database.ownerUrl, '-f', join(folder, 'roles.sql')]);
    const since = await world.ran('quick', 'since the dump');
    const streams = new Traces(world).logFolder();
    await world.withoutDatabase(async () => {
      await withoutBus(() => cpSync(streams, join(folder, 'streams'), { recursive: true }));
      await onAnotherServer();
    });
    const after = await world.ran('quick', 'after the restore');
    for (const runId of [before, since, after])
      expect([runId, (await world.row(runId))?.state]).toEqual([runId, 'succeeded']);
    expect(await world.runyard('verify')).toMatchObject({ code: 0, said: '' });
  },
);

ifThere(
  'streams that are older than the rows are found by the doctor, whose remedy loses nothing',
  async () => {
    const streams = new Traces(world).logFolder();
    const count = () => world.value<number>('SELECT count(*)::int FROM run_executor.agent_runs');
    const runs = await count();
    await world.restart(async () => {
      await withoutBus(() => {
        rmSync(streams, { recursive: true });
        cpSync(join(folder, 'streams'), streams, { recursive: true });
      });
      const { code, out } = await world.runyard('doctor', '--json');
      expect(code).toBe(1);
      const found = out.map((line) => JSON.parse(line) as { found: string; remedy?: string });
      const ahead = found.filter(({ remedy }) => remedy?.startsWith('The stream is older than the rows'));
      expect(ahead.map((one) => one.found)).toContainEqual(expect.stringMatching(/^RUNS at \d+, \d+ ahead/));
      const wrong = [...new Set(ahead.map((one) => one.found.split(' ')[0] ?? ''))];
      await withoutBus(() => {
        for (const stream of wrong)
          rmSync(join(streams, `jetstream/$G/streams/${stream}`), { recursive: true });
      });
      for (const stream of wrong)
        expect((await world.runyard('archive', 'restore', stream, '--yes')).code).toBe(0);
      expect((await world.runyard('doctor', '--json')).code).toBe(0);
    });
    await world.ran('quick', 'after all');
    expect(await count()).toBe(runs + 1);
    expect(await world.runyard('verify')).toMatchObject({ code: 0, said: '' });
  },
);

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NewEvent } from '@runyard/contracts';
import { subjectOf } from '@runyard/contracts';
import { connectEventLog, streamSource } from '@runyard/event-log';
import type { EventLogConnection } from '@runyard/event-log';
import { archiveProjection, runProjection } from '@runyard/persistence';
import type { Database, Projection } from '@runyard/persistence';
import { eventually, freshDatabase, startNats } from '@runyard/testing';
import type { TestDatabase, TestNats } from '@runyard/testing';
import { Client } from 'pg';
import { RUN_MIGRATIONS } from '../../run-executor/src/migrations';
import { ORG } from '../../run-executor/src/projections/run-log';
import { runsProjection } from '../../run-executor/src/projections/runs.projection';
import * as sample from '../../run-executor/src/projections/sample-events';
import { runCommandLine } from './command-line';

jest.setTimeout(120_000);

const RUNS = 6;

let nats: TestNats;
let bus: EventLogConnection;
let database: TestDatabase;
let db: Database;
let owner: Client;
let folder: string;

beforeAll(async () => {
  nats = await startNats();
  bus = await connectEventLog({ servers: nats.url, name: 'spec' });
  database = await freshDatabase([{ service: 'run-executor', migrations: RUN_MIGRATIONS }]);
  db = database.connect('run-executor');
  owner = new Client({ connectionString: database.ownerUrl });
  await owner.connect();
  await owner.query('SET search_path = run_executor');
  folder = mkdtempSync(join(tmpdir(), 'runyard-cli-'));
  writeFileSync(
    join(folder, 'connection.json'),
    JSON.stringify({
      api_url: 'http://x',
      keys: { admin: 'secret' },
      database_url: database.ownerUrl,
      nats_url: nats.url,
      more: 1,
    }),
  );
  for (let index = 0; index < RUNS; index++)
    await append(`run_${index}`, sample.typicalCommits(`run_${index}`, 3));
  await append('run_live', sample.typicalCommits('run_live', 3).slice(0, 4));
  await append('run_gone', [...sample.typicalCommits('run_gone', 2), [sample.deleted()]]);
  await project();
});
afterAll(async () => {
  await owner?.end();
  await bus?.close();
  await database?.drop();
  await nats?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

async function append(id: string, commits: readonly NewEvent[][]): Promise<void> {
  const subject = subjectOf('runs', ORG, id);
  let expected = await bus.log.lastSequence(subject);
  for (const events of commits)
    expected = (
      await bus.log.append({ subject, expected, events, meta: { actor: 'system:spec', source: 'spec' } })
    ).sequence;
}

/** Lets the projectors of rows and archive catch up with the stream. */
async function project(): Promise<void> {
  const { lastSequence } = await bus.log.state('RUNS');
  await Promise.all(
    [runsProjection(), archiveProjection('RUNS')].map((projection) => until(projection, lastSequence)),
  );
}

async function until(projection: Projection, position: number): Promise<void> {
  const stop = new AbortController();
  let reached = 0;
  let fault: string | null = null;
  const running = runProjection({
    db,
    source: streamSource(bus.log, 'RUNS'),
    projection,
    signal: stop.signal,
    onStatus: (status) => {
      reached = status.position;
      fault = status.fault;
    },
  });
  await eventually(() => {
    if (fault) throw new Error(fault);
    return reached >= position;
  });
  stop.abort();
  await running;
}

async function runyard(...args: string[]): Promise<{ code: number; out: string[]; said: string }> {
  const out: string[] = [];
  const said: string[] = [];
  const terminal = {
    out: (line: string) => void out.push(line),
    say: (line: string) => void said.push(line),
    progress: () => undefined,
  };
  const code = await runCommandLine(
    ['node', 'runyard', '--connection', join(folder, 'connection.json'), ...args],
    terminal,
  );
  return { code, out, said: said.join('\n') };
}

/** Plants a difference, verifies, and takes it away again. */
async function planted(statement: string, undo: string, ...args: string[]): ReturnType<typeof runyard> {
  await owner.query(`SET session_replication_role = replica; ${statement}`);
  try {
    return await runyard('verify', ...args);
  } finally {
    await owner.query(`${undo}; SET session_replication_role = origin`);
  }
}

const steps = async (): Promise<number> =>
  Number((await owner.query('SELECT count(*) FROM agent_steps')).rows[0].count);

test.each(['stream', 'archive'])(
  'rows that the %s gives are equal: exit 0, and the last line says how much was compared',
  async (from) => {
    const { code, out } = await runyard('verify', '--from', from);
    const { lastSequence } = await bus.log.state('RUNS');
    expect([code, out]).toEqual([
      0,
      [`verify: equal ${RUNS + 1} runs ${await steps()} steps at ${lastSequence}`],
    ]);
  },
);

test('C58 verification has no effects: no event, no message, no changed row (spatie/laravel-event-projector#29)', async () => {
  const state = async () => ({
    runs: await bus.log.state('RUNS'),
    rows: (await owner.query('SELECT md5(string_agg(a::text, chr(10) ORDER BY run_id)) FROM agent_runs a'))
      .rows,
    slots: (await owner.query('SELECT count(*) FROM run_slots')).rows,
    drivers: (await owner.query('SELECT * FROM run_drivers')).rows,
    checkpoints: (await owner.query('SELECT projection, position FROM projection_checkpoints')).rows,
  });
  const before = await state();
  expect((await runyard('verify')).code).toBe(0);
  expect((await runyard('verify', '--from', 'archive')).code).toBe(0);
  expect(await state()).toEqual(before);
});

test("a changed row is found and named, with the column, the live value and the log's: exit 1", async () => {
  const { code, out } = await planted(
    `UPDATE agent_runs SET output = 'forged' WHERE run_id = 'run_2'`,
    `UPDATE agent_runs SET output = 'Nothing is due.' WHERE run_id = 'run_2'`,
  );
  expect(code).toBe(1);
  expect(out[0]).toBe(
    'agent_runs: 1 live rows that the log does not give, 1 rows of the log that are not live',
  );
  expect(out[1]).toBe('  run_id run_2: output is "forged", and "Nothing is due." by the log');
  expect(out.at(-1)).toMatch(/^verify: different 7 runs/);
});

test('a missing step and a run that no event made are found', async () => {
  await owner.query('CREATE TABLE kept AS SELECT * FROM agent_steps WHERE false');
  const missing = await planted(
    `WITH gone AS (DELETE FROM agent_steps WHERE run_id = 'run_1' AND seq = 2 RETURNING *) INSERT INTO kept SELECT * FROM gone`,
    'INSERT INTO agent_steps SELECT * FROM kept',
  );
  expect([missing.code, missing.out[0], missing.out[1]]).toEqual([
    1,
    'agent_steps: 0 live rows that the log does not give, 1 rows of the log that are not live',
    '  run_id run_1, seq 2: only in the log',
  ]);
  const extra = await planted(
    `INSERT INTO agent_runs (run_id, org_id, root_run_id, owner_id, requested_by, agent_id, trigger, state, tier, created_at, sequence, position)
     VALUES ('run_forged', '${ORG}', 'run_forged', 'o', 'user:o', 'a', 'manual', 'queued', 'fast', now(), 1, '1.0')`,
    `DELETE FROM agent_runs WHERE run_id = 'run_forged'`,
  );
  expect([extra.code, extra.out[1]]).toEqual([1, '  run_id run_forged: only live']);
  expect((await runyard('verify')).code).toBe(0);
});

test('C59 a damaged commit stops with stream, position and type: exit 2 (hallgren/eventsourcing#160)', async () => {
  const spoil = `UPDATE archive.event_log SET body = left(body, 50) WHERE stream = 'RUNS' AND sequence = 5`;
  await owner.query(
    `CREATE TABLE whole AS SELECT body FROM archive.event_log WHERE stream = 'RUNS' AND sequence = 5`,
  );
  const mend = `UPDATE archive.event_log SET body = (SELECT body FROM whole) WHERE stream = 'RUNS' AND sequence = 5`;
  const { code, out, said } = await planted(spoil, mend, '--from', 'archive');
  expect([code, out]).toEqual([2, []]);
  expect(said).toContain('RUNS at position 5.0 is damaged: its body is not JSON');
});

test('C59 unknown event types are skipped and reported (hallgren/eventsourcing#160)', async () => {
  await append('run_live', [[{ type: 'RunBlessed', data: {} }]]);
  await project();
  const { code, said } = await runyard('verify');
  expect(code).toBe(0);
  expect(said).toMatch(/^skipped 1 events of the unknown type runyard\.RunBlessed\.v1, the first at \d+\.0$/);
});

test('as JSON the comparison of every table is data, and the verdict is talk', async () => {
  const { code, out, said } = await runyard('verify', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(out.join(''))).toMatchObject({
    equal: true,
    runs: RUNS + 1,
    steps: await steps(),
    tables: expect.arrayContaining([expect.objectContaining({ table: 'agent_runs', missing: 0, extra: 0 })]),
  });
  expect(said).toContain('verify: equal');
});

test('C58 of two verifications at once the second refuses: exit 2 (spatie/laravel-event-projector#29)', async () => {
  await owner.query(`SELECT pg_advisory_lock(hashtextextended('runyard verify', 0))`);
  const { code, said } = await runyard('verify');
  await owner.query(`SELECT pg_advisory_unlock(hashtextextended('runyard verify', 0))`);
  expect([code, said]).toEqual([2, 'runyard: Another verification is under way; wait for it to end']);
});

test('what cannot be connected or understood says what to do, without passwords: exit 2', async () => {
  const file = join(folder, 'bad.json');
  writeFileSync(
    file,
    '{"database_url": "postgres://u:geheim@127.0.0.1:1/x", "nats_url": "nats://127.0.0.1:1"}',
  );
  const nowhere = await runyard('--connection', file, 'verify');
  expect([nowhere.code, nowhere.said]).toEqual([
    2,
    'runyard: The database does not answer; is Runyard running?',
  ]);
  writeFileSync(file, 'geheim');
  const broken = await runyard('--connection', file, 'verify');
  expect(broken.said).toContain('is not readable JSON');
  expect(broken.said).not.toContain('geheim');
  expect((await runyard('verfy')).said).toContain('Did you mean verify?');
  expect((await runyard('verfy')).code).toBe(2);
  expect((await runyard('--help')).code).toBe(0);
});

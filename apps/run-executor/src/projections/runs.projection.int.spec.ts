import { blobs, rebuildAndCompare, runProjection } from '@runyard/persistence';
import type { Database, ProjectedCommit, ProjectorStatus } from '@runyard/persistence';
import { eventually, freshDatabase, MemorySource, projectionSpec } from '@runyard/testing';
import type { ProjectionSpec, TestDatabase } from '@runyard/testing';
import { Client } from 'pg';
import { RUN_MIGRATIONS } from '../migrations';
import { runPeopleProjection } from './people.projection';
import { randomLog, seeded } from './random-histories';
import type { Random } from './random-histories';
import { ORG, OTHER_USER, RunLog, USER } from './run-log';
import { placedEntries, RUN_TABLES } from './run-tables';
import { RunQueries } from './run.queries';
import { runsProjection } from './runs.projection';
import * as call from './sample-calls';
import * as sample from './sample-events';
import { text } from './sample-texts';

jest.setTimeout(180_000);

const KEYS: Record<string, string> = {
  agent_runs: 'run_id',
  agent_steps: 'run_id, seq',
  run_entries: 'run_id, place',
  run_progress: 'run_id',
  conversations: 'org_id, conversation_id',
  run_keys: 'run_id',
  run_drivers: 'run_id',
  deleted_runs: 'run_id',
  deleted_conversations: 'org_id, conversation_id',
  organizations: 'org_id',
  users: 'user_id',
};

let database: TestDatabase;
let owner: Client;
let db: Database;

beforeEach(async () => {
  database = await freshDatabase([{ service: 'run-executor', migrations: RUN_MIGRATIONS }]);
  db = database.connect('run-executor');
  owner = new Client({ connectionString: database.ownerUrl });
  await owner.connect();
  await owner.query('SET search_path = run_executor');
});
afterEach(async () => {
  await owner?.end();
  await database?.drop();
});

const project = (commits: readonly ProjectedCommit[]): Promise<void> =>
  db.acrossOrgs('test', (tx) => runsProjection().apply(tx, commits));

async function rows(): Promise<Record<string, unknown[]>> {
  const all: Record<string, unknown[]> = {};
  for (const [table, order] of Object.entries(KEYS)) {
    const from = table === 'run_entries' ? `(${placedEntries(table)})` : table;
    all[table] = (await owner.query(`SELECT to_jsonb(t) AS row FROM ${from} t ORDER BY ${order}`)).rows;
  }
  return all;
}

async function empty(): Promise<void> {
  for (const table of ['organizations', 'run_keys', 'run_drivers', 'deleted_runs', 'deleted_conversations'])
    await owner.query(`DELETE FROM ${table}`);
}

function split(random: Random, commits: readonly ProjectedCommit[]): ProjectedCommit[][] {
  const parts: ProjectedCommit[][] = [];
  for (let from = 0; from < commits.length; from += parts.at(-1)?.length ?? 1)
    parts.push(commits.slice(from, from + 1 + random(commits.length)));
  return parts;
}

const one = async <Row = Record<string, any>>(sql: string, params: unknown[] = []): Promise<Row> =>
  (await owner.query(sql, params)).rows[0];

describe('histories', () => {
  test('give equal rows however they are cut into batches', async () => {
    for (let seed = 1; seed <= 3; seed++) {
      const random = seeded(seed);
      const { commits } = randomLog(random, 12);
      await empty();
      await project(commits);
      const whole = await rows();
      await empty();
      for (const part of split(random, commits)) await project(part);
      expect({ seed, ...(await rows()) }).toEqual({ seed, ...whole });
      await empty();
      for (const commit of commits) await project([commit]);
      expect({ seed, ...(await rows()) }).toEqual({ seed, ...whole });
    }
  });

  test('C56 delivered twice, before and after later ones, give the rows of a fresh rebuild (proteanhq/protean#1042)', async () => {
    const random = seeded(99);
    const { commits } = randomLog(random, 20);
    for (const part of split(random, commits)) {
      await project([...part, ...part.slice(-3)]);
      if (random(2) === 0) await project(part);
    }
    await project(commits.slice(-20));
    const live = await rows();
    await empty();
    await project(commits);
    expect(await rows()).toEqual(live);
  });

  test('C58 equal their replay from zero, which changes nothing but its own scratch (spatie/laravel-event-projector#29)', async () => {
    const source = new MemorySource();
    source.deliveries = 2;
    source.append(...randomLog(seeded(3), 40).commits);
    await live(source);
    const before = await rows();
    const verify = () =>
      rebuildAndCompare({
        ownerUrl: database.ownerUrl,
        schema: RUN_TABLES.schema,
        tables: RUN_TABLES.verified,
        workTables: RUN_TABLES.work,
        lookupTables: RUN_TABLES.lookup,
        forms: RUN_TABLES.forms,
        projection: runsProjection(),
        source,
      });
    const [first] = await Promise.all([verify(), verify()]);
    expect(first.tables.map(({ table, missing, extra }) => ({ table, missing, extra }))).toEqual(
      RUN_TABLES.verified.map((table) => ({ table, missing: 0, extra: 0 })),
    );
    expect(first.position).toBe(source.lastSequence);
    expect(await rows()).toEqual(before);
    expect(
      (await owner.query(`SELECT nspname FROM pg_namespace WHERE nspname LIKE '%scratch%'`)).rows,
    ).toEqual([]);
  });

  test('C59 a damaged commit stops the projector before it, by stream, position and type (hallgren/eventsourcing#160)', async () => {
    const log = new RunLog();
    for (let run = 0; run < 20; run++) sample.typicalRun(log, `run_${run}`, 2);
    const bad = log.commits[49]!;
    bad.body = bad.body.slice(0, 40);
    const source = new MemorySource();
    source.append(...log.commits);
    const stop = new AbortController();
    const faults: string[] = [];
    const running = runProjection({
      db,
      source,
      projection: runsProjection(),
      signal: stop.signal,
      onStatus: ({ fault }) => void (fault && faults.push(fault)),
    });
    await eventually(() => faults.some((fault) => fault.includes('50')));
    stop.abort();
    await running;
    expect(faults.at(-1)).toContain('RUNS at position 50.0 is damaged');
    expect((await one('SELECT position FROM projection_checkpoints')).position).toBe('49');
  });
});

async function live(source: MemorySource): Promise<void> {
  const stop = new AbortController();
  let status: ProjectorStatus | undefined;
  const running = runProjection({
    db,
    source,
    projection: runsProjection(),
    signal: stop.signal,
    onStatus: (now) => (status = now),
    batchSize: 37,
  });
  await eventually(() => {
    if (status?.state === 'faulted') throw new Error(status.fault ?? 'faulted');
    return status?.position === source.lastSequence;
  });
  stop.abort();
  await running;
}

describe('rows', () => {
  let log: RunLog;
  beforeEach(() => void (log = new RunLog()));

  test('the trajectory is written with the end and collected until then', async () => {
    for (const events of sample.typicalCommits('run_1', 3).slice(0, -1)) log.run('run_1', events);
    await project(log.commits);
    expect((await one('SELECT entries FROM agent_runs')).entries).toEqual([]);
    const collected = Number((await one(`SELECT count(*) FROM (${placedEntries('run_entries')}) e`)).count);
    await project([log.run('run_1', [sample.turn(3, []), sample.succeeded()])]);
    const run = await one('SELECT entries, ended_at, started_at FROM agent_runs');
    expect(run.entries).toHaveLength(collected + 1);
    expect(run.entries.at(-1)).toMatchObject({
      kind: 'message',
      role: 'assistant',
      content: 'Nothing is due.',
    });
    expect(run.started_at.getTime()).toBe(log.commits[1]!.storedAt);
    expect(
      Number((await one('SELECT count(*) FROM run_entries')).count) +
        Number((await one('SELECT count(*) FROM run_progress')).count),
    ).toBe(0);
  });

  test('C67 NUL and half surrogate pairs come back as they were, literal escapes untouched (kodustech/kodus-ai#1683)', async () => {
    const awkward = ['x\0y', '\ud83d', '\udfe1\ud83d', 'C:\\u0000dir', '{"a\0": 1}', 'fine 😀'];
    log.run('run_1', [sample.queued('run_1', { input: text(awkward.join('|')) }), sample.started()]);
    const calls = awkward.map((_, index) => `c1-${index}`);
    log.run('run_1', [
      sample.turn(
        1,
        awkward.map(() => 'read'),
      ),
      ...calls.map((id) => call.callStarted(id, 'read')),
    ]);
    await project(log.commits);
    await project(
      calls.map((id, index) => log.run('run_1', [call.callSucceeded(id, 'read', text(awkward[index]!))])),
    );
    await project([log.run('run_1', [sample.succeeded(text(awkward.join('|')))])]);
    const queries = new RunQueries(db);
    const caller = { org: ORG, actor: `user:${USER}` as const, userId: USER, roles: [] };
    const steps = await queries.steps(caller, { run_id: 'run_1' });
    expect(steps.data.slice(1).map(({ content }) => content)).toEqual(awkward);
    expect(await queries.get(caller, { run_id: 'run_1' })).toMatchObject({
      input: awkward.join('|'),
      output: awkward.join('|'),
    });
    const { entries } = await queries.trajectory(caller, { run_id: 'run_1' });
    expect(entries.filter(({ kind }) => kind === 'tool_result').map(({ content }) => content)).toEqual(
      awkward,
    );
  });

  test('the final answer stands whole in its row, also where the event named a blob', async () => {
    const whole = 'long '.repeat(50_000);
    const digest = await blobs(db).put(ORG, whole);
    log.run('run_1', [
      sample.queued('run_1'),
      sample.started(),
      sample.succeeded({ preview: 'long', digest, bytes: whole.length }),
    ]);
    await project(log.commits);
    expect((await one('SELECT output FROM agent_runs')).output).toBe(whole);
  });

  test('deleting a run takes its rows, frees its children and leaves a tombstone with its tokens', async () => {
    sample.typicalRun(log, 'run_parent', 3);
    sample.typicalRun(log, 'run_child', 1, { parentRunId: 'run_parent', rootRunId: 'run_parent', depth: 1 });
    await project(log.commits);
    expect((await one(`SELECT parent_run_id FROM agent_runs WHERE run_id = 'run_child'`)).parent_run_id).toBe(
      'run_parent',
    );
    await project([log.run('run_parent', [sample.deleted()])]);
    expect(await one('SELECT run_id, parent_run_id, root_run_id FROM agent_runs')).toEqual({
      run_id: 'run_child',
      parent_run_id: null,
      root_run_id: 'run_parent',
    });
    expect(await one(`SELECT count(*)::int FROM agent_steps WHERE run_id = 'run_parent'`)).toEqual({
      count: 0,
    });
    expect(
      await one('SELECT run_id, agent_id, input_tokens::int, output_tokens::int FROM deleted_runs'),
    ).toEqual({
      run_id: 'run_parent',
      agent_id: 'librarian',
      input_tokens: 300,
      output_tokens: 60,
    });
    expect(await one(`SELECT ended FROM run_keys WHERE run_id = 'run_parent'`)).toEqual({ ended: true });
    await project(log.commits);
    expect(await one('SELECT count(*)::int FROM agent_runs')).toEqual({ count: 1 });
  });

  test('deleting a conversation deletes its runs, also those that other batches brought', async () => {
    log.conversation('dialog', [sample.conversationCreated('Books')]);
    sample.typicalRun(log, 'run_1', 2, { conversationId: 'dialog' });
    await project(log.commits);
    expect(await one('SELECT title, user_id FROM conversations')).toEqual({ title: 'Books', user_id: USER });
    await project([
      log.run('run_2', [sample.queued('run_2', { conversationId: 'dialog' })]),
      log.conversation('dialog', [sample.conversationDeleted()]),
    ]);
    expect((await rows()).agent_runs).toEqual([]);
    expect((await owner.query('SELECT run_id FROM deleted_runs ORDER BY 1')).rows).toEqual([
      { run_id: 'run_1' },
      { run_id: 'run_2' },
    ]);
    await project(log.commits);
    expect((await rows()).conversations).toEqual([]);
  });

  test('a conversation that nobody created is made by its first run', async () => {
    await project([
      log.run('run_1', [sample.skipped('run_1')]),
      log.run('run_2', [sample.queued('run_2', { conversationId: 'dialog' })]),
    ]);
    expect(await one('SELECT conversation_id, user_id, title FROM conversations')).toEqual({
      conversation_id: 'dialog',
      user_id: USER,
      title: '',
    });
    await project([log.conversation('dialog', [sample.conversationCreated('Later', OTHER_USER)])]);
    expect(await one('SELECT title, user_id FROM conversations')).toEqual({
      title: 'Later',
      user_id: OTHER_USER,
    });
  });

  test('a deleted user is cleared from runs, whichever stream is read first', async () => {
    const people: ProjectionSpec = projectionSpec(db, runPeopleProjection);
    sample.typicalRun(log, 'run_before', 1, { conversationId: 'dialog' });
    await project(log.commits);
    await people.given({
      context: 'people',
      org: ORG,
      id: `user-${USER}`,
      events: [{ type: 'UserDeleted', data: { userId: USER } }],
    });
    await project([log.run('run_after', [sample.queued('run_after')])]);
    expect((await owner.query('SELECT run_id, user_id FROM agent_runs ORDER BY 1')).rows).toEqual([
      { run_id: 'run_after', user_id: null },
      { run_id: 'run_before', user_id: null },
    ]);
    expect(await one('SELECT user_id FROM conversations')).toEqual({ user_id: null });
  });

  test('drivers follow the claims; the heartbeat of a driver is never set back', async () => {
    await project([log.run('run_1', [sample.queued('run_1'), sample.started(1, 'one')])]);
    await owner.query(`UPDATE run_drivers SET heartbeat_at = '2030-01-01'`);
    await project([log.run('run_1', [sample.recovered(2, 'two')])]);
    expect(await one('SELECT epoch, instance, heartbeat_at FROM run_drivers')).toEqual({
      epoch: 2,
      instance: 'two',
      heartbeat_at: new Date('2030-01-01'),
    });
    await project([log.run('run_1', [sample.pauseRequested()]), log.run('run_1', [sample.paused()])]);
    expect((await rows()).run_drivers).toEqual([]);
  });

  test('unknown event types are recorded and handed on', async () => {
    const heard: string[] = [];
    const projection = runsProjection(({ type, position }) => heard.push(`${type} at ${position}`));
    log.run('run_1', [sample.queued('run_1'), { type: 'runyard.RunBlessed.v1', data: {} }]);
    log.run('run_1', [{ type: 'runyard.RunBlessed.v1', data: {} }]);
    for (const commit of [...log.commits, ...log.commits])
      await db.acrossOrgs('test', (tx) => projection.apply(tx, [commit]));
    expect(heard.slice(0, 2)).toEqual(['runyard.RunBlessed.v1 at 1.1', 'runyard.RunBlessed.v1 at 2.0']);
    expect(await one('SELECT type, times::int, first_position, last_position FROM unknown_events')).toEqual({
      type: 'runyard.RunBlessed.v1',
      times: 2,
      first_position: '1.1',
      last_position: '2.0',
    });
  });

  test('the projector of a service delivers twice and restarts: one row, one step each', async () => {
    const spec = projectionSpec(db, runsProjection());
    for (const events of sample.typicalCommits('run_1', 2))
      await spec.given({ context: 'runs', org: ORG, id: 'run_1', events });
    const [run] = await spec.rows<{ steps: number; tool_calls: number; total_tokens: bigint }>(
      'SELECT steps, tool_calls, total_tokens FROM agent_runs',
    );
    expect(run).toEqual({ steps: 2, tool_calls: 1, total_tokens: 240n });
    expect(await spec.rows('SELECT seq FROM agent_steps ORDER BY seq')).toEqual([
      { seq: 1 },
      { seq: 2 },
      { seq: 3 },
    ]);
  });
});

import type { Caller, NewEvent, Problem, Role } from '@runyard/contracts';
import type { Database } from '@runyard/persistence';
import { freshDatabase } from '@runyard/testing';
import type { TestDatabase } from '@runyard/testing';
import { Client } from 'pg';
import { RUN_MIGRATIONS } from '../migrations';
import { EPOCH, ORG, OTHER_ORG, OTHER_USER, RunLog, USER } from './run-log';
import { RunQueries } from './run.queries';
import type { RunFilter } from './run.queries';
import { runsProjection } from './runs.projection';
import * as call from './sample-calls';
import * as sample from './sample-events';
import { text } from './sample-texts';

jest.setTimeout(120_000);

let database: TestDatabase;
let db: Database;
let queries: RunQueries;

const person = (userId: string, ...roles: Role[]): Caller => ({
  org: ORG,
  actor: `user:${userId}`,
  userId,
  roles,
});
const member = person(USER, 'member');
const stranger = person(OTHER_USER, 'member');
const admin = person(OTHER_USER, 'admin');
const key: Caller = { org: ORG, actor: 'service:key1', userId: null, roles: ['service'] };
const foreigner: Caller = { ...member, org: OTHER_ORG, roles: ['admin'] };

const problem = (answer: Promise<unknown>): Promise<string> =>
  answer.then(
    () => 'answered',
    (error: Problem) => error.code,
  );

beforeAll(async () => {
  database = await freshDatabase([{ service: 'run-executor', migrations: RUN_MIGRATIONS }]);
  db = database.connect('run-executor');
  queries = new RunQueries(db);
  const log = new RunLog();
  for (let index = 0; index < 25; index++) {
    const id = `run_${String(index).padStart(2, '0')}`;
    const agentId = index % 2 ? 'librarian' : 'clerk';
    sample.typicalRun(log, id, 1, { agentId });
  }
  log.run('run_failed', [
    sample.queued('run_failed', { trigger: 'scheduled' }),
    sample.started(),
    sample.failed(),
  ]);
  log.run('run_skipped', [sample.skipped('run_skipped')]);
  log.run('run_live', [
    sample.queued('run_live', { conversationId: 'dialog' }),
    sample.started(),
    sample.snapshot(),
  ]);
  log.run('run_child', [
    sample.queued('run_child', { parentRunId: 'run_live', rootRunId: 'run_live', depth: 1 }),
  ]);
  log.run('run_grandchild', [
    sample.queued('run_grandchild', { parentRunId: 'run_child', rootRunId: 'run_live', depth: 2 }),
  ]);
  log.run('run_by_key', [sample.queued('run_by_key', { userId: OTHER_USER, requestedBy: 'service:key1' })]);
  log.run('run_foreign', [sample.queued('run_foreign')], 10, OTHER_ORG);
  await db.acrossOrgs('test', (tx) => runsProjection().apply(tx, log.commits));
});
afterAll(() => database?.drop());

const ids = async (caller: Caller, filter: RunFilter): Promise<unknown[]> =>
  (await queries.list(caller, { limit: 200, ...filter })).data.map((run) => run.run_id);

describe('the list of runs', () => {
  test('is newest first and pages without gap or double', async () => {
    const all = await ids(admin, {});
    const paged: unknown[] = [];
    let cursor: string | undefined;
    do {
      const page = await queries.list(admin, { limit: 7, cursor });
      expect(page.data.length).toBeLessThanOrEqual(7);
      paged.push(...page.data.map((run) => run.run_id));
      cursor = page.next_cursor ?? undefined;
    } while (cursor);
    expect(paged).toEqual(all);
    expect(new Set(all).size).toBe(31);
    expect(all[0]).toBe('run_by_key');
    expect(all.at(-1)).toBe('run_00');
  });

  test.each<[RunFilter, number]>([
    [{ agent_id: 'clerk' }, 13],
    [{ state: 'failed' }, 1],
    [{ status: 'running' }, 4],
    [{ status: 'error' }, 1],
    [{ termination: 'Completed' }, 25],
    [{ parent_run_id: 'run_live' }, 1],
    [{ conversation_id: 'dialog' }, 1],
    [{ trigger: 'scheduled' }, 1],
    [{ user_id: OTHER_USER }, 1],
    [{ agent_id: 'clerk', state: 'succeeded', status: 'completed' }, 13],
    [{ agent_id: 'clerk', state: 'failed' }, 0],
    [{ from: new Date(EPOCH + 40).toISOString() }, 30],
    [{ to: new Date(EPOCH + 40).toISOString() }, 1],
  ])('filters %j hold together', async (filter, expected) => {
    expect(await ids(admin, filter)).toHaveLength(expected);
  });

  test('shows what the caller may see', async () => {
    expect(await ids(member, {})).toHaveLength(30);
    expect(await ids(stranger, {})).toEqual(['run_by_key']);
    expect(await ids(key, {})).toEqual(['run_by_key']);
    expect(await ids(foreigner, {})).toEqual(['run_foreign']);
  });

  test('a cursor of another list is refused', async () => {
    expect(await problem(queries.list(admin, { cursor: 'bm90IG91cnM' }))).toBe('invalid_cursor');
  });

  test('reads the page from an index, whatever the filter', async () => {
    const owner = new Client({ connectionString: database.ownerUrl });
    await owner.connect();
    await owner.query(`SET search_path = run_executor`);
    await owner.query(`INSERT INTO agent_runs (run_id, org_id, root_run_id, owner_id, requested_by, agent_id, trigger, state, termination, reason, tier,
        user_id, created_at, started_at, ended_at, output, error, sequence, position)
      SELECT 'bulk_' || n, '${ORG}', 'x', 'o', 'user:o', 'agent_' || n % 50, 'manual', CASE WHEN n % 20 = 0 THEN 'failed' ELSE 'succeeded' END,
        CASE WHEN n % 20 = 0 THEN 'Error' ELSE 'Completed' END, CASE WHEN n % 20 = 0 THEN 'error' END, 'fast', '${USER}',
        now() - n * interval '1 minute', now() - n * interval '1 minute', now(), '', '{"code": "", "text": ""}', 1, '1.0'
      FROM generate_series(1, 20000) n`);
    await owner.query('ANALYZE agent_runs');
    await owner.end();
    const plan = async (caller: Caller, filter: RunFilter) => {
      let text = '';
      const explaining = {
        ...db,
        inOrg: (org: string, work: (tx: any) => Promise<any>) =>
          db.inOrg(org, (tx) =>
            work({
              query: async (sql: string, params: unknown[]) => {
                text = JSON.stringify(await tx.query(`EXPLAIN ${sql}`, params));
                return tx.query(sql, params);
              },
            }),
          ),
      };
      await new RunQueries(explaining as Database).list(caller, filter);
      return text;
    };
    const { next_cursor } = await queries.list(admin, { limit: 3 });
    const cases: [Caller, RunFilter, RegExp][] = [
      [admin, {}, /agent_runs_list/],
      [admin, { cursor: next_cursor ?? '' }, /agent_runs_list/],
      [admin, { agent_id: 'agent_7' }, /agent_runs_of_agent/],
      [admin, { termination: 'Error' }, /agent_runs_failures/],
      [admin, { user_id: USER }, /agent_runs_(of_user|list)/],
      [admin, { parent_run_id: 'run_live' }, /agent_runs_children/],
      [admin, { conversation_id: 'dialog' }, /agent_runs_of_conversation/],
    ];
    for (const [caller, filter, index] of cases) {
      const read = await plan(caller, filter);
      expect(read).toMatch(index);
      expect(read).not.toMatch(/Seq Scan on agent_runs/);
    }
  });
});

describe('one run', () => {
  test('carries numbers for counts, text for positions and RFC 3339 for times', async () => {
    const run = await queries.get(member, { run_id: 'run_01' });
    expect(run).toMatchObject({
      run_id: 'run_01',
      state: 'succeeded',
      status: 'completed',
      total_tokens: 120,
      model_calls: 1,
      steps: 1,
      output: 'Nothing is due.',
      created_at: new Date(EPOCH + 40).toISOString(),
      agent_version: 1,
      bounds: { maxSteps: 25 },
    });
    expect(run.position).toMatch(/^\d+\.\d+$/);
    expect(run).not.toHaveProperty('entries');
    expect(run).not.toHaveProperty('sequence');
  });

  test('C63 is not there for other orgs and forbidden for others of the same org, on every read (mastra-ai/mastra#22575)', async () => {
    for (const read of ['get', 'steps', 'inspect', 'trajectory'] as const) {
      const as = (caller: Caller) => problem(queries[read](caller, { run_id: 'run_01' }));
      expect([
        read,
        await as(member),
        await as(admin),
        await as(stranger),
        await as(key),
        await as(foreigner),
      ]).toEqual([read, 'answered', 'answered', 'forbidden', 'forbidden', 'not_found']);
      expect(await problem(queries[read](admin, { run_id: 'run_missing' }))).toBe('not_found');
    }
  });

  test('is read by the key that asked for it', async () => {
    expect(await queries.get(key, { run_id: 'run_by_key' })).toMatchObject({ requested_by: 'service:key1' });
  });

  test('inspection shows the tree below it and its first steps', async () => {
    const seen = await queries.inspect(member, { run_id: 'run_live' });
    expect((seen.tree as { run_id: string }[]).map(({ run_id }) => run_id)).toEqual([
      'run_child',
      'run_grandchild',
    ]);
    expect(seen).toMatchObject({
      run: { run_id: 'run_live' },
      tree_truncated: false,
      steps: [],
      next_after: null,
    });
  });

  test('the trajectory is there while the run goes on', async () => {
    expect(await queries.trajectory(member, { run_id: 'run_live' })).toMatchObject({
      complete: false,
      state: 'running',
      entries: [{ kind: 'definition' }, { kind: 'message', role: 'user' }, { kind: 'snapshot' }],
      next_after: null,
    });
    const ended = await queries.trajectory(member, { run_id: 'run_01', limit: 2 });
    expect(ended).toMatchObject({
      complete: true,
      entries: [{ kind: 'definition' }, { kind: 'message' }],
      next_after: 2,
    });
    const rest = await queries.trajectory(member, { run_id: 'run_01', after: 2 });
    expect(rest.entries).toMatchObject([{ kind: 'snapshot' }, { kind: 'message', role: 'assistant' }]);
  });

  test('a position that is not reached is said to be awaited, one that is reached is read', async () => {
    expect(await problem(queries.get(member, { run_id: 'run_01', at_least: '999999.0' }))).toBe(
      'unavailable',
    );
    expect(await problem(queries.get(member, { run_id: 'run_01', at_least: '0.0' }))).toBe('answered');
  });
});

describe('long runs', () => {
  const LONG = 2_000;
  beforeAll(async () => {
    const log = new RunLog(100_000);
    for (const events of sample.typicalCommits('run_long', LONG / 2, { agentId: 'walker' }))
      log.run('run_long', events);
    log.run('run_wide', [sample.queued('run_wide', { agentId: 'walker' }), sample.started()]);
    const tools = Array.from({ length: 40 }, () => 'read');
    log.run('run_wide', [
      sample.turn(1, tools),
      ...tools.map((tool, index) => call.callStarted(`c1-${index}`, tool)),
    ]);
    for (const index of tools.keys())
      log.run('run_wide', [call.callSucceeded(`c1-${index}`, 'read', text('x'.repeat(32_000)))]);
    await db.acrossOrgs('test', (tx) => runsProjection().apply(tx, log.commits));
  });

  test('the steps of a run of 2,000 come in pages that join without gap', async () => {
    const seqs: unknown[] = [];
    let after: number | null = 0;
    const times: number[] = [];
    while (after !== null) {
      const begun = performance.now();
      const page: Awaited<ReturnType<RunQueries['steps']>> = await queries.steps(member, {
        run_id: 'run_long',
        after,
      });
      times.push(performance.now() - begun);
      seqs.push(...page.data.map(({ seq }) => seq));
      after = page.next_after;
    }
    expect(seqs).toEqual(Array.from({ length: LONG - 1 }, (_, index) => index + 1));
    process.stderr.write(
      `first page of ${LONG} steps: ${times[0]?.toFixed(1)} ms, slowest ${Math.max(...times).toFixed(1)} ms\n`,
    );
  });

  test('a page stays small however large its texts are', async () => {
    const page = await queries.steps(member, { run_id: 'run_wide' });
    expect(JSON.stringify(page).length).toBeLessThan(700_000);
    expect(page.next_after).not.toBeNull();
    const entries = await queries.trajectory(member, { run_id: 'run_wide', after: 43 });
    expect(JSON.stringify(entries).length).toBeLessThan(700_000);
    expect(entries.next_after).not.toBeNull();
  });
});

describe('conversations', () => {
  test('are seen by their owner, by who may see a run in them, and by admins', async () => {
    const seen = async (caller: Caller) =>
      (await queries.conversations(caller, {})).data.map((row) => row.conversation_id);
    expect([await seen(member), await seen(admin), await seen(stranger), await seen(foreigner)]).toEqual([
      ['dialog'],
      ['dialog'],
      [],
      [],
    ]);
    expect(await queries.conversation(member, { conversation_id: 'dialog' })).toMatchObject({
      conversation_id: 'dialog',
      user_id: USER,
      title: '',
    });
    expect(await problem(queries.conversation(stranger, { conversation_id: 'dialog' }))).toBe('forbidden');
    expect(await problem(queries.conversation(foreigner, { conversation_id: 'dialog' }))).toBe('not_found');
  });
});

test('answers fit a message of the bus however long output and errors are, in any script', async () => {
  const org = '55555555-5555-4555-8555-555555555555';
  const log = new RunLog(1_000);
  log.run(
    'run_wordy',
    [sample.queued('run_wordy'), sample.started(), sample.succeeded(text('界'.repeat(400_000)))],
    10,
    org,
  );
  const error = { code: 'provider_unavailable', text: '界'.repeat(4_000) };
  const failed: NewEvent = {
    type: 'RunFailed',
    data: { termination: 'Error', reason: 'provider_unavailable', error },
  };
  for (let index = 0; index < 200; index++) {
    const id = `run_unlucky${index}`;
    log.run(id, [sample.queued(id), sample.started(), failed], 10, org);
  }
  await db.acrossOrgs('test', (tx) => runsProjection().apply(tx, log.commits));
  const owner = { ...member, org };
  const run = await queries.get(owner, { run_id: 'run_wordy' });
  expect([run.output_truncated, String(run.output).length]).toEqual([true, 75_000]);
  const page = await queries.list(owner, { limit: 200 });
  expect(page.data).toHaveLength(200);
  expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThan(768 * 1024);
  const [failure] = page.data;
  expect(await queries.get(owner, { run_id: String(failure?.run_id) })).toMatchObject({ error });
  expect(failure).toMatchObject({ error: { code: error.code, text: `${'界'.repeat(300)}…` } });
});

import { randomUUID } from 'node:crypto';
import type { ActivityRow, Caller, ListActivity } from '@runyard/contracts';
import type { Database } from '@runyard/persistence';
import { rebuildAndCompare } from '@runyard/persistence';
import { MemorySource, freshDatabase, projectedCommit, projectionSpec } from '@runyard/testing';
import type { ProjectionSpec, SpecCommit, TestDatabase } from '@runyard/testing';
import { APPROVALS_MIGRATIONS } from '../migrations';
import { APPROVALS_PROJECTIONS } from './index';
import { ActivityQueries } from './activity.queries';

jest.setTimeout(120_000);

const ORG = randomUUID();
const OTHER_ORG = randomUUID();
const OWNER = randomUUID();
const NOON = Date.UTC(2026, 0, 5, 12);

const caller = (roles: Caller['roles'], userId: string | null = randomUUID(), org = ORG): Caller => ({
  org,
  actor: userId ? `user:${userId}` : 'service:key_x',
  userId,
  roles,
});
const admin = caller(['admin']);
const run = (id: string, events: SpecCommit['events'], more: Partial<SpecCommit> = {}): SpecCommit => ({
  context: 'runs',
  org: ORG,
  id,
  events,
  ...more,
});
const queued = (more: object = {}) => ({
  type: 'RunQueued',
  data: {
    agentId: 'clerk',
    agentVersion: 1,
    ownerId: OWNER,
    userId: OWNER,
    requestedBy: `user:${OWNER}`,
    trigger: 'manual',
    ...more,
  },
});

let database: TestDatabase;
let db: Database;
let feed: ActivityQueries;
const specs: Record<string, ProjectionSpec> = {};
const list = async (asker: Caller, filter: Partial<ListActivity> = {}) =>
  feed.list(asker, { limit: 50, ...filter });
const kinds = async (asker: Caller, filter: Partial<ListActivity> = {}) =>
  (await list(asker, filter)).data.map(({ kind }) => kind);

const of = (name: string): ProjectionSpec => {
  const known = APPROVALS_PROJECTIONS.find(({ projection }) => projection.name === name);
  if (!known) throw new Error(name);
  return (specs[name] ??= projectionSpec(db, known.projection));
};

beforeAll(async () => {
  database = await freshDatabase([{ service: 'approvals', migrations: APPROVALS_MIGRATIONS }]);
  db = database.connect('approvals');
  feed = new ActivityQueries(db);
});
afterAll(() => database?.drop());

test('what later events do not repeat is known from earlier ones, and steps make no entries', async () => {
  await of('activity-runs').given(
    run('run_a', [queued()], { time: NOON }),
    run('run_a', [{ type: 'RunStarted', data: { epoch: 1, instance: 'i' } }], { time: NOON + 1 }),
    run('run_a', [{ type: 'RunCancelRequested', data: { reason: 'user' } }], {
      time: NOON + 2,
      actor: `user:${OWNER}`,
    }),
  );
  await of('activity-runs').given(
    run('run_a', [{ type: 'RunCancelled', data: { reason: 'user' } }], { time: NOON + 3 }),
  );
  const { data } = await list(admin, { run_id: 'run_a' });
  expect(data.map(({ kind }) => kind)).toEqual(['run.cancelled', 'run.cancel_requested', 'run.queued']);
  expect(data[0]).toEqual({
    time: '2026-01-05T12:00:00.003Z',
    topic: 'ends',
    kind: 'run.cancelled',
    actor: 'system:spec',
    subject: { kind: 'run', id: 'run_a' },
    agent_id: 'clerk',
    run_id: 'run_a',
    task_id: null,
    summary: 'ended the run: cancelled (user)',
    stream: 'RUNS',
    position: '4.0',
  });
  expect(data[1]?.actor).toBe(`user:${OWNER}`);
});

test('an owner sees their own, a reviewer what asked, overseers all, other orgs nothing', async () => {
  const asked = { kind: 'call', runId: 'run_a', agentId: 'clerk', agentVersion: 1, ownerId: OWNER };
  const opened = { ...asked, step: 1, callId: 'c', tool: 'refund', arguments: { text: '{}' } };
  const question = {
    context: 'approvals' as const,
    org: ORG,
    id: `apr_${'0'.repeat(26)}`,
    events: [
      {
        type: 'ApprovalOpened',
        data: {
          ...opened,
          argumentsDigest: 'd',
          ruleId: null,
          groupKey: null,
          policyVersion: 0,
          expiresAt: NOON,
        },
      },
    ],
    time: NOON + 2,
  };
  await of('activity-runs').given(run('run_b', [queued({ userId: null, requestedBy: 'service:key_x' })]));
  await of('activity-approvals').given(question);
  await of('approvals').given(question);
  const all = ['run.cancelled', 'run.cancel_requested', 'approval.opened', 'run.queued'];
  expect(await kinds(caller(['member'], OWNER))).toEqual(all);
  expect(await kinds(caller(['reviewer']))).toEqual(all);
  expect(await kinds(caller(['member']))).toEqual([]);
  expect(await kinds(admin)).toEqual([...all, 'run.queued']);
  expect(await kinds(caller(['service'], null), { topic: 'starts' })).toEqual(['run.queued']);
  expect(await kinds(caller(['admin'], OWNER, OTHER_ORG))).toEqual([]);
});

test('tasks, boards and agents are part of it, with the filters of a list', async () => {
  const details = { agentId: 'clerk' };
  const task = (events: SpecCommit['events'], id = 'task_1'): SpecCommit => ({
    context: 'tasks',
    org: ORG,
    id,
    events,
    time: NOON + 10_000,
  });
  await of('activity-tasks').given(
    task([{ type: 'TaskCreated', data: { userId: OWNER, column: 'todo', details } }]),
    task(
      [{ type: 'CardMoved', data: { userId: OWNER, taskId: 'task_1', from: 'todo', column: 'x' } }],
      'board',
    ),
    task([{ type: 'TaskStopRequested', data: { userId: OWNER } }]),
  );
  await of('activity-agents').given({
    context: 'agents',
    org: ORG,
    id: 'clerk',
    events: [
      { type: 'AgentCreated', data: { ownerId: OWNER, version: 1 } },
      { type: 'AgentLocked', data: { reason: null } },
    ],
    time: NOON + 11_000,
    actor: 'user:boss',
  });
  expect(await kinds(admin, { task_id: 'task_1' })).toEqual([
    'task.stop_requested',
    'task.moved',
    'task.created',
  ]);
  expect(await kinds(admin, { topic: 'locks' })).toEqual(['agent.locked']);
  expect(await kinds(admin, { actor: 'user:boss' })).toEqual(['agent.locked', 'agent.created']);
  expect(await kinds(admin, { agent_id: 'clerk', topic: 'board' })).toEqual(['task.moved', 'task.created']);
  expect(await kinds(admin, { from: '2026-01-05T12:00:11Z' })).toEqual(['agent.locked', 'agent.created']);
  expect(await kinds(admin, { kind: 'run.queued', to: '2026-01-05T12:00:01Z' })).toContain('run.queued');
  expect(await kinds(caller(['member'], OWNER), { topic: 'locks' })).toEqual(['agent.locked']);
});

test('pages of any size neither lose nor repeat, over streams and equal times', async () => {
  const whole = (await list(admin)).data;
  for (const limit of [1, 2, 3]) {
    const paged: ActivityRow[] = [];
    let cursor: string | undefined;
    do {
      const page = await list(admin, { limit, ...(cursor && { cursor }) });
      paged.push(...page.data);
      cursor = page.next_cursor ?? undefined;
    } while (cursor);
    expect(paged).toEqual(whole);
  }
});

test('of an erased run nothing is left but that it was erased', async () => {
  await of('activity-runs').given(
    run('run_gone', [queued()]),
    run('run_gone', [{ type: 'RunDeleted', data: { agentId: 'clerk' } }]),
    {
      context: 'erasures',
      org: ORG,
      id: 'runs',
      events: [{ type: 'RunErased', data: { runId: 'run_gone', agentId: 'clerk' } }],
    },
  );
  expect(await kinds(admin, { run_id: 'run_gone' })).toEqual(['run.erased']);
  expect(await kinds(caller(['member'], OWNER), { run_id: 'run_gone' })).toEqual([]);
});

test('of erased tasks and rules nothing is left but that they were erased', async () => {
  const [task, rule] = ['task_gone', 'rul_gone'];
  const tasks = (id: string, type: string, data: object): SpecCommit => ({
    context: 'tasks',
    org: ORG,
    id,
    events: [{ type, data }],
  });
  const moved = { userId: OWNER, taskId: task, from: 'todo', column: 'doing' };
  await of('activity-tasks').given(
    tasks(task, 'TaskCreated', { userId: OWNER, column: 'todo', details: { agentId: 'clerk' } }),
    tasks('board', 'CardMoved', moved),
    tasks(task, 'TaskErased', { userId: null }),
  );
  expect(await kinds(admin, { task_id: task })).toEqual(['task.erased']);
  const rules = (type: string, data: object): SpecCommit => ({
    context: 'permissions',
    org: ORG,
    id: 'rules',
    events: [{ type, data }],
  });
  const scope = { kind: 'agent', agentId: 'gone' };
  await of('activity-approvals').given(
    rules('RuleAdded', { rule: { ruleId: rule, scope, tool: 'refund', decision: 'deny', conditions: [] } }),
    rules('RulesErased', { ruleIds: [rule], version: 2 }),
  );
  expect(await kinds(admin, { agent_id: 'gone' })).toEqual([]);
  expect(await kinds(admin, { kind: 'rule.erased' })).toEqual(['rule.erased']);
});

test('a rebuild of the log comes to the same rows', async () => {
  const known = APPROVALS_PROJECTIONS.find(({ projection }) => projection.name === 'activity-runs');
  if (!known) throw new Error('there is no such projection');
  const source = new MemorySource();
  const commits = [
    run('run_1', [queued()]),
    run('run_1', [{ type: 'RunModeSet', data: { mode: 'plan' } }]),
    run('run_2', [queued({ requestedBy: 'system:task_0123456789abcdefghij' })]),
    run('run_1', [{ type: 'RunSucceeded', data: { output: { text: '\u0000' } } }]),
  ];
  source.append(...commits.map((commit, index) => projectedCommit(commit, index + 1)));
  const other = await freshDatabase([{ service: 'approvals', migrations: APPROVALS_MIGRATIONS }]);
  const fresh = other.connect('approvals');
  try {
    const spec = projectionSpec(fresh, known.projection);
    await spec.given(...commits);
    const [checkpoint] = await spec.rows<{ incarnation: string }>(
      'SELECT incarnation FROM projection_checkpoints',
    );
    source.incarnation = checkpoint?.incarnation ?? '';
    const { ownerUrl } = other;
    const { tables } = await rebuildAndCompare({ ...known, ownerUrl, source });
    expect(tables).toMatchObject([{ table: 'activity_runs', rows: 4, missing: 0, extra: 0 }]);
  } finally {
    await other.drop();
  }
});

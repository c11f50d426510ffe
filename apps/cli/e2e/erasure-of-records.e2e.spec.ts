import { randomUUID } from 'node:crypto';
import { connectEventLog } from '@runyard/event-log';
import {
  NO_POLICY,
  PERMISSION_EVENTS,
  RULES_ID,
  evolvePolicy,
  requestSubject,
  subjectOf,
} from '@runyard/contracts';
import type { PermissionEvent } from '@runyard/contracts';
import { decodeEvents } from '@runyard/event-log';
import { eventually } from '@runyard/testing';
import { ApiClient } from '../../../deploy/local/api-client';
import { Traces, large, marker } from './traces';
import { QUICK, answers } from './turns';
import { World } from './world';

// Tasks, documents, questions and rules: what people wrote and what runs left outside of their own logs.

jest.setTimeout(240_000);

/** What the model asks the person behind a task. */
const question = marker();

interface Receipt {
  runs: number;
  tasks: number;
  documents: number;
  dead_letters: number;
  questions: number;
  rules: number;
}

let world: World;
let traces: Traces;
beforeAll(async () => {
  const needs_input = JSON.stringify({ needs_input: question });
  world = await World.open({
    recordings: {
      quick: QUICK,
      unsure: [answers(needs_input)],
    },
  });
  traces = new Traces(world);
});
afterAll(() => world?.close());

/** A task whose first run asked for a person. */
async function asking(title: string, api = world.api): Promise<{ task_id: string; run_id: string }> {
  const details = { agent_id: 'unsure', title, description: `About ${title}` };
  const { task_id } = await api.call<{ task_id: string }>('POST', '/v1/tasks', details);
  await api.call('POST', `/v1/tasks/${task_id}/start`);
  await eventually(async () => (await taskRow(task_id))?.attention === 'needs_input', { withinMs: 30_000 });
  const run_id = (await taskRow(task_id))?.latest_run_id ?? '';
  await eventually(async () => (await world.row(run_id))?.ended_at != null);
  return { task_id, run_id };
}

interface TaskColumns {
  attention: string | null;
  latest_run_id: string | null;
}
const taskRow = async (taskId: string): Promise<TaskColumns | undefined> =>
  (await world.owner.query('SELECT * FROM tasks.agent_tasks WHERE task_id = $1', [taskId])).rows[0] as
    | TaskColumns
    | undefined;

async function erase(kind: string, id: string, ...more: string[]): Promise<Receipt> {
  const { code, out, said } = await world.runyard('erase', kind, id, '--yes', '--json', ...more);
  expect([code, code === 0 ? '' : said]).toEqual([0, '']);
  return JSON.parse(out.join('')) as Receipt;
}

/** Locks a task; its fence. */
async function lock(api: ApiClient, taskId: string): Promise<number> {
  const taken = { lock_id: randomUUID() };
  const answer = await api.call<{ lock: { fence: number } }>('POST', `/v1/tasks/${taskId}/lock`, taken);
  return answer.lock.fence;
}

async function complete(taskId: string, report: string): Promise<void> {
  const fence = await lock(world.api, taskId);
  await world.api.call('POST', `/v1/tasks/${taskId}/complete`, { fence, report });
}

describe('a run that a task asked for', () => {
  test('is erased with its task, which copied what it answered; other tasks stay', async () => {
    const [title, kept] = [marker(), marker()];
    const { task_id, run_id } = await asking(title);
    const other = await asking(kept);
    expect(await traces.inTables(question)).toContain('tasks.agent_tasks');
    const receipt = await erase('run', run_id);
    expect(receipt).toMatchObject({ runs: 1, tasks: 1 });
    expect([await traces.of(title), await taskRow(task_id)]).toEqual([[], undefined]);
    expect(await traces.inTables(task_id)).toEqual(expect.not.arrayContaining(['tasks.task_activity']));
    expect((await taskRow(other.task_id))?.latest_run_id).toBe(other.run_id);
    await erase('run', other.run_id);
    expect([await traces.of(kept), await traces.of(question)].flat()).toEqual([]);
    await traces.areProven();
  });

  test('and again, after an interruption, comes to the same', async () => {
    const { run_id } = await asking(marker());
    await erase('run', run_id);
    expect(await erase('run', run_id)).toMatchObject({ runs: 0 });
    await traces.areProven();
  });

  test('is left by a sweep until its task has ended before the time, and goes with it then', async () => {
    const [title, report] = [marker(), marker()];
    const { task_id, run_id } = await asking(title);
    const sweep = (): Promise<{ code: number }> =>
      world.runyard('retention', 'sweep', '--before', new Date(Date.now() + 1_000).toISOString(), '--yes');
    await sweep();
    expect([(await world.row(run_id))?.state, (await taskRow(task_id))?.attention]).toEqual([
      'succeeded',
      'needs_input',
    ]);
    await complete(task_id, report);
    await eventually(async () => (await traces.inTables(report)).includes('tasks.agent_tasks'));
    await sweep();
    expect([await world.row(run_id), await taskRow(task_id)]).toEqual([undefined, undefined]);
    expect([await traces.of(title), await traces.of(report)]).toEqual([[], []]);
    await traces.areProven();
  });
});

describe('erase user', () => {
  /** A member with a key of their own. */
  async function member(): Promise<{ id: string; api: ApiClient }> {
    const email = `${randomUUID()}@example.org`;
    const user = { email, name: 'Mem', roles: ['member'] };
    const { user_id } = await world.api.call<{ user_id: string }>('POST', '/v1/users', user);
    const owned = { label: 'theirs', roles: ['member'], user_id };
    const { key } = await world.api.call<{ key: string }>('POST', '/v1/keys', owned);
    return { id: user_id, api: new ApiClient(world.platform.apiUrl, key) };
  }

  test('tasks and documents, those that were deleted before too, and what runs of theirs left', async () => {
    const { id, api } = await member();
    const texts = {
      title: marker(),
      gone: marker(),
      content: marker(),
      old: marker(),
      ran: marker(),
      dead: marker(),
    };
    const agent = { agent_id: `of-${id}`, name: 'Theirs', prompt: 'Ask.', model_id: 'unsure' };
    await api.call('POST', '/v1/agents', agent);
    const put = (document_id: string, text: string) =>
      api.call('POST', '/v1/documents', {
        document_id,
        title: text,
        source: '',
        language: 'english',
        content: large(text),
      });
    await put('kept-until-then', texts.content);
    await put('deleted-before', texts.old);
    await api.call('DELETE', '/v1/documents/deleted-before');
    const task = { agent_id: agent.agent_id, description: 'd' };
    const make = (title: string) => api.call<{ task_id: string }>('POST', '/v1/tasks', { ...task, title });
    const first = await make(texts.title);
    await api.call('POST', `/v1/tasks/${first.task_id}/start`);
    await eventually(async () => (await taskRow(first.task_id))?.attention === 'needs_input', {
      withinMs: 30_000,
    });
    const second = await make(texts.gone);
    await remove(api, second.task_id);
    const { run_id } = await api.call<{ run_id: string }>('POST', '/v1/runs', {
      agent_id: agent.agent_id,
      input: texts.ran,
    });
    await eventually(async () => (await world.row(run_id))?.ended_at != null, { withinMs: 30_000 });
    await api.call('DELETE', `/v1/runs/${run_id}`);
    await eventually(async () => (await world.row(run_id)) === undefined);
    // A request for an agent of theirs that nobody could carry out: it is a dead letter, and no run.
    const bus = await connectEventLog({ servers: world.nats.url, name: 'spec' });
    await bus.queues.publish(requestSubject(world.org), { agent_id: agent.agent_id, input: texts.dead });
    await eventually(async () => traces.inLog(texts.dead).includes('DEAD'));
    await bus.close();
    for (const text of Object.values(texts)) expect((await traces.of(text)).length).toBeGreaterThan(0);
    const receipt = await erase('user', id);
    expect(receipt).toMatchObject({ runs: 2, tasks: 2, documents: 2, dead_letters: 1 });
    for (const [name, text] of Object.entries(texts))
      expect([name, await traces.of(text)]).toEqual([name, []]);
    expect(await traces.inTables(first.task_id)).toEqual(['approvals.activity_tasks', 'archive.event_log']);
    await traces.areProven();
  });

  const remove = async (api: ApiClient, taskId: string): Promise<void> => {
    const fence = await lock(api, taskId);
    await api.call('DELETE', `/v1/tasks/${taskId}?fence=${fence}`);
    await eventually(async () => (await taskRow(taskId)) === undefined);
  };

  test('questions about their calls, rules about them; the policy counts on, and what others shared is theirs no more', async () => {
    const { id, api } = await member();
    const [asked, condition, shared] = [marker(), marker(), marker()];
    const agent = { agent_id: `of-${id}`, name: 'Theirs', prompt: 'Do.', model_id: 'quick' };
    await api.call('POST', '/v1/agents', agent);
    const { run_id } = await api.call<{ run_id: string }>('POST', '/v1/runs', {
      agent_id: agent.agent_id,
      input: 'x',
    });
    await eventually(async () => (await world.row(run_id))?.ended_at != null, { withinMs: 30_000 });
    const bus = await connectEventLog({ servers: world.nats.url, name: 'spec' });
    const approval = `apr_${'1'.repeat(26)}`;
    const agentFacts = { agentId: agent.agent_id, agentVersion: 1, ownerId: id };
    const call = { callId: 'c1-0', tool: 'pay', arguments: { text: asked }, argumentsDigest: 'a'.repeat(64) };
    const rules = { ruleId: null, groupKey: null, policyVersion: 1, expiresAt: Date.now() + 3_600_000 };
    const opened = { kind: 'call', runId: run_id, step: 1, ...agentFacts, ...call, ...rules };
    const meta = { actor: 'system:spec', source: 'spec' } as const;
    const subject = subjectOf('approvals', world.org, approval);
    await bus.log.append({ subject, expected: 0, events: [{ type: 'ApprovalOpened', data: opened }], meta });
    await eventually(async () => (await traces.inTables(asked)).includes('approvals.approvals'));
    const rule = (scope: object) =>
      world.api.call('POST', '/v1/permission-rules', {
        scope,
        tool: 'knowledge_search',
        decision: 'deny',
        conditions: [{ at: '/query', is: 'equals', value: condition }],
      });
    await rule({ kind: 'agent', agent_id: agent.agent_id });
    await rule({ kind: 'owner', owner_id: id });
    await eventually(
      async () => (await world.value<number>('SELECT count(*)::int FROM approvals.permission_rules')) === 2,
    );
    await world.api.call('POST', '/v1/documents', {
      document_id: 'of-ada',
      title: shared,
      source: '',
      language: 'english',
      content: shared,
      access: { everyone: false, users: [id], groups: [] },
    });
    const policy = async () => {
      const commits = await bus.log.read(subjectOf('permissions', world.org, RULES_ID));
      const events = commits.flatMap(
        (one) => decodeEvents(one, PERMISSION_EVENTS).events as PermissionEvent[],
      );
      return events.reduce(evolvePolicy, NO_POLICY);
    };
    const before = (await policy()).version;
    expect(await erase('user', id)).toMatchObject({ questions: 1, rules: 2 });
    expect([await traces.of(asked), await traces.of(condition)]).toEqual([[], []]);
    expect(await policy()).toEqual({ version: before + 1, rules: [] });
    expect(await traces.inTables(shared)).toContain('knowledge.documents');
    await eventually(
      async () => (await world.value('SELECT count(*)::int FROM knowledge.document_readers')) === 0,
    );
    await bus.close();
    await traces.areProven();
  });
});

test('erase org: its tasks and documents too', async () => {
  const [title, content] = [marker(), marker()];
  const admin = { email: 'o@example.org', name: 'O' };
  const made = await world.platform.createOrg({ name: 'Other', time_zone: 'UTC', admin, key_label: 'k' });
  const api = new ApiClient(world.platform.apiUrl, made.key.key);
  const model = { model_id: 'm', label: 'm', tier: 'fast', model: 'recorded', context_window: 9_000 };
  await api.call('POST', '/v1/models', {
    ...model,
    provider: { kind: 'recorded', recording: 'unsure.json' },
  });
  await api.call('POST', '/v1/agents', { agent_id: 'unsure', name: 'U', prompt: 'U', model_id: 'm' });
  await asking(title, api);
  await api.call('POST', '/v1/documents', {
    title: content,
    source: '',
    language: 'english',
    content: large(content),
  });
  expect(await traces.inTables(content)).toContain('archive.blobs');
  await erase('org', made.org.org_id);
  expect([await traces.of(title), await traces.of(content)]).toEqual([[], []]);
  await traces.areProven();
});

import { randomUUID } from 'node:crypto';
import { connectEventLog } from '@runyard/event-log';
import { subjectOf } from '@runyard/contracts';
import { eventually } from '@runyard/testing';
import { ApiClient } from '../../../deploy/local/api-client';
import { Traces, large, marker } from './traces';
import { QUICK, SLOW } from './turns';
import { World } from './world';

jest.setTimeout(240_000);

let world: World;
let traces: Traces;
beforeAll(async () => {
  world = await World.open({
    recordings: {
      quick: QUICK,
      slow: SLOW,
    },
  });
});
beforeAll(() => {
  traces = new Traces(world);
});
afterAll(() => world?.close());

const logFilesWith = (text: string): string[] => traces.inLog(text);
const tablesWith = (text: string): Promise<string[]> => traces.inTables(text);
const isProven = (): Promise<void> => traces.areProven();

describe('erase run', () => {
  test('nothing of it can be read any more, in log files, archive, rows or blobs; a rebuild brings nothing back', async () => {
    const text = marker();
    const runId = await world.ran('quick', large(text));
    const kept = await world.ran('quick', 'another run');
    expect(logFilesWith(runId)).toContain('RUNS');
    expect(await tablesWith(text)).toContain('archive.blobs');
    // What somebody looked back at lies beside, and would keep the run for good.
    const { sequence } = (await world.row(kept)) ?? {};
    await world.runyard('replay', 'runs', '--to', String(sequence));
    expect(await tablesWith(runId)).toContain('replay_run_executor_runs.agent_runs');
    const { code, out } = await world.runyard('erase', 'run', runId, '--yes', '--json');
    expect(code).toBe(0);
    const receipt = JSON.parse(out.join('')) as {
      messages_overwritten: number;
      replays_dropped: number;
      copies_may_remain: string[];
    };
    expect(receipt.replays_dropped).toBe(1);
    expect(receipt.messages_overwritten).toBeGreaterThan(0);
    expect(receipt.copies_may_remain.join(' ')).toMatch(/write-ahead log.* backups /);
    expect(await tablesWith(text)).toEqual([]);
    expect(logFilesWith(text)).toEqual([]);
    expect(await world.row(runId)).toBeUndefined();
    expect((await world.row(kept))?.state).toBe('succeeded');
    await isProven();
    await world.runyard('replay', 'runs', '--yes');
    expect(await world.row(runId)).toBeUndefined();
  });

  test('a question to people about one of its calls goes with it', async () => {
    const [text, approval] = [marker(), `apr_${'0'.repeat(26)}`];
    const runId = await world.ran('quick', text);
    const bus = await connectEventLog({ servers: world.nats.url, name: 'spec' });
    const subject = subjectOf('approvals', world.org, approval);
    const call = { callId: 'c1-0', tool: 'pay', arguments: { text }, argumentsDigest: 'a'.repeat(64) };
    const rule = { ruleId: null, groupKey: null, policyVersion: 1, expiresAt: Date.now() + 3_600_000 };
    const agent = { agentId: 'quick', agentVersion: 1, ownerId: world.userId };
    const opened = { kind: 'call', runId, step: 1, ...agent, ...call, ...rule };
    const meta = { actor: 'system:spec', source: 'spec' } as const;
    await bus.log.append({ subject, expected: 0, events: [{ type: 'ApprovalOpened', data: opened }], meta });
    await eventually(async () => (await tablesWith(text)).includes('approvals.approvals'));
    expect((await world.runyard('erase', 'run', runId, '--yes')).code).toBe(0);
    expect([await tablesWith(text), logFilesWith(text)]).toEqual([[], []]);
    expect(await bus.log.lastSequence(subject)).toBe(0);
    await bus.close();
    await isProven();
  });

  test('its key stays used, and its tokens stay counted in a tombstone without content', async () => {
    const start = () => world.runyard('runs', 'start', 'quick', 'Count me', '--key', 'erased-key');
    const runId = (await start()).out[0] ?? '';
    await eventually(async () => (await world.row(runId))?.ended_at != null);
    const tokens = (await world.row(runId))?.input_tokens;
    expect((await world.runyard('erase', 'run', runId, '--yes')).code).toBe(0);
    expect((await start()).said).toContain('This request was carried out before; its run has been deleted');
    const other = await world.runyard('runs', 'start', 'quick', 'Another body', '--key', 'erased-key');
    expect(other.said).toMatch(/^runyard: idempotency_key_reused/);
    expect(await world.row(runId)).toBeUndefined();
    expect(
      await world.value('SELECT input_tokens FROM run_executor.deleted_runs WHERE run_id = $1', [runId]),
    ).toBe(tokens);
    const bus = await connectEventLog({ servers: world.nats.url, name: 'spec' });
    expect(await bus.log.lastSequence(subjectOf('runs', world.org, runId))).toBe(0);
    await bus.close();
  });

  test('a run that has not ended, one that is not there, and a word that was not typed are refused', async () => {
    const started = await world.runyard('runs', 'start', 'slow', 'Wait');
    const runId = started.out[0] ?? '';
    await eventually(async () => (await world.row(runId))?.state === 'running');
    expect((await world.runyard('erase', 'run', runId, '--yes')).said).toContain('has not ended');
    expect((await world.runyard('erase', 'run', 'run_nobody', '--yes')).said).toContain('There is no run');
    expect((await world.runyard('erase', 'run', runId)).said).toContain('pass --yes');
    await world.runyard('runs', 'cancel', runId);
  });

  test('a dialog goes on after the turn before: it is passed over, in the middle and at the end', async () => {
    const conversation_id = `talk-${randomUUID()}`;
    const turns: string[] = [];
    for (const text of ['first', 'second', 'third'])
      turns.push(await world.ran('quick', text, { conversation_id }));
    await world.runyard('erase', 'run', turns[1] ?? '', '--yes');
    await world.runyard('erase', 'run', turns[2] ?? '', '--yes');
    const next = await world.ran('quick', 'fourth', { conversation_id });
    expect((await world.row(next))?.previous_run_id).toBe(turns[0]);
    await world.runyard('erase', 'run', turns[0] ?? '', '--yes');
    const last = await world.ran('quick', 'fifth', { conversation_id });
    expect((await world.row(last))?.previous_run_id).toBe(next);
    await isProven();
  });
});

describe('retention sweep', () => {
  test('shows first what would go, skips what has not ended, and takes rows, log, archive and blobs together', async () => {
    const text = marker();
    const old = await world.ran('quick', large(text));
    const open = (await world.runyard('runs', 'start', 'slow', 'Still going')).out[0] ?? '';
    await eventually(async () => (await world.row(open))?.state === 'running');
    const before = new Date(Date.now() + 1_000).toISOString();
    const looked = await world.runyard('retention', 'sweep', '--before', before, '--dry-run');
    expect(looked.said).toMatch(/unfinished, skipped +1/);
    expect(await world.row(old)).toBeDefined();
    const swept = await world.runyard('retention', 'sweep', '--before', before, '--yes');
    expect(swept.code).toBe(0);
    expect(await world.value('SELECT count(*)::int FROM run_executor.agent_runs')).toBe(1);
    expect((await world.row(open))?.state).toBe('running');
    expect([await tablesWith(text), logFilesWith(text)]).toEqual([[], []]);
    await isProven();
    await world.runyard('runs', 'cancel', open);
    expect((await world.runyard('retention', 'sweep', '--before', 'never')).code).toBe(2);
  });

  test('what its owner deleted before goes for good with it', async () => {
    const text = marker();
    const runId = await world.ran('quick', text);
    await world.api.call('DELETE', `/v1/runs/${runId}`);
    await eventually(async () => (await world.row(runId)) === undefined);
    expect(await tablesWith(text)).toEqual(['archive.event_log']);
    const before = new Date(Date.now() + 1_000).toISOString();
    await world.runyard('retention', 'sweep', '--before', before, '--yes');
    expect([await tablesWith(text), logFilesWith(text)]).toEqual([[], []]);
    await isProven();
  });
});

test('an id that names nobody is refused, and nothing is appended for it', async () => {
  for (const [kind, id] of [
    ['user', randomUUID()],
    ['user', 'nobody'],
    ['org', randomUUID()],
    ['run', 'run_nobody'],
  ] as const) {
    const { code, out, said } = await world.runyard('erase', kind, id, '--yes');
    expect([code, out, said]).toEqual([2, [], expect.stringContaining(`There is no ${kind} ${id}`)]);
    expect(await tablesWith(id)).toEqual([]);
  }
});

test('erase user: account, keys, agents, conversations and runs, also of unfinished ones; the org goes on', async () => {
  const [name, prompt, input, title] = [marker(), marker(), marker(), marker()];
  const email = `${name}@example.org`;
  const { user_id } = await world.api.call<{ user_id: string }>('POST', '/v1/users', {
    email,
    name,
    roles: ['member'],
  });
  const { key } = await world.api.call<{ key: string }>('POST', '/v1/keys', {
    label: name,
    roles: ['member'],
    user_id,
  });
  const asUser = (method: string, path: string, body: object) =>
    fetch(`${world.platform.apiUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const agent = { agent_id: 'theirs', name, prompt, model_id: 'quick', concurrency: 'unlimited' };
  expect((await asUser('POST', '/v1/agents', agent)).status).toBe(201);
  await asUser('POST', '/v1/conversations', { conversation_id: 'their-talk', title });
  const body = { agent_id: 'theirs', input, conversation_id: 'their-talk' };
  const started = (await (await asUser('POST', '/v1/runs', body)).json()) as { run_id: string };
  await eventually(async () => (await world.row(started.run_id))?.ended_at != null);
  const { code, said } = await world.runyard('erase', 'user', user_id, '--yes');
  expect([code, said]).toEqual([0, '1 runs, 1 agents, 1 conversations, 1 keys, 0 tasks, 0 documents']);
  for (const text of [name, input, title])
    expect([text, await tablesWith(text), logFilesWith(text)]).toEqual([text, [], []]);
  // The prompt may be read by a run that starts in these minutes; it is collected then.
  expect((await tablesWith(prompt)).filter((table) => table !== 'archive.blobs')).toEqual([]);
  await isProven();
  expect((await world.api.call<{ data: object[] }>('GET', '/v1/users')).data).toHaveLength(1);
});

test('erase org: every stream and table, and nothing of it can be made again', async () => {
  const name = marker();
  const made = await world.platform.createOrg({
    name,
    time_zone: 'UTC',
    admin: { email: `${name}@example.org`, name },
    key_label: name,
  });
  const { org_id } = made.org;
  const call = (path: string, body: object) =>
    fetch(`${world.platform.apiUrl}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${made.key.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const model = { model_id: 'm', label: name, tier: 'fast', model: 'recorded', context_window: 9_000 };
  await call('/v1/models', { ...model, provider: { kind: 'recorded', recording: 'slow.json' } });
  expect((await call('/v1/agents', { agent_id: 'a', name, prompt: name, model_id: 'm' })).status).toBe(201);
  // Somebody who was deleted before is gone from the log with the org, and from what is remembered of deleted people.
  const api = new ApiClient(world.platform.apiUrl, made.key.key);
  const left = { email: `left-${name}@example.org`, name, roles: ['member'] };
  const { user_id } = await api.call<{ user_id: string }>('POST', '/v1/users', left);
  await api.call('DELETE', `/v1/users/${user_id}`);
  await eventually(async () => (await tablesWith(user_id)).includes('run_executor.erased_references'));
  const started = (await (await call('/v1/runs', { agent_id: 'a', input: name })).json()) as {
    run_id: string;
  };
  await eventually(async () => (await world.row(started.run_id))?.state === 'running');
  const { code } = await world.runyard('erase', 'org', org_id, '--yes', '--rewrite');
  expect(code).toBe(0);
  expect([await tablesWith(name), logFilesWith(name)]).toEqual([[], []]);
  expect(await tablesWith(user_id)).toEqual([]);
  expect(await tablesWith(org_id)).toEqual([
    'archive.event_log',
    'run_executor.erased_references',
    'run_executor.run_keys',
  ]);
  await isProven();
});

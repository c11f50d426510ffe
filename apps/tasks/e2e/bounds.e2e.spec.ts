import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ApprovalRow, TaskRow, TaskRunRow } from '@runyard/contracts';
import { eventually } from '@runyard/testing';
import { Product } from './fixture';
import { rehearse } from './rehearsal';

jest.setTimeout(300_000);

const DETAILS = {
  title: 'Pay the customer back',
  description: 'Ten.',
  acceptance: 'It is paid.',
  agentId: 'payer',
  modelId: null,
  maxSteps: 25,
  blockedBy: [],
  reviewPlan: false,
};
const OUTPUTS = [
  JSON.stringify({ steps: [{ title: 'Pay' }] }),
  'Paid.',
  JSON.stringify({ accepted: true, reason: 'It is paid.' }),
  'The customer has the money.',
];
const REFUND = { id: 'c', tool: 'refund', arguments: '{"amount":10}' };

interface RunRow {
  run_id: string;
  state: string;
  reason: string | null;
  trigger: string;
  total_tokens: number;
}

describe('what holds for every run holds for the runs of tasks', () => {
  let product: Product;
  let shop: Server;
  let paid = 0;

  beforeAll(async () => {
    shop = createServer((request, response) => {
      request.resume();
      paid++;
      response.setHeader('content-type', 'application/json').end('{}');
    });
    await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve));
    product = await Product.start({
      executor: { http: { allowedHosts: ['127.0.0.1'], allowPrivate: true } },
    });
    await product.api.call('POST', '/v1/tools', {
      name: 'refund',
      description: 'Pays money back',
      input_schema: { type: 'object', properties: { amount: { type: 'number' } } },
      effect: 'write',
      source: {
        kind: 'http',
        method: 'POST',
        url: `http://127.0.0.1:${(shop.address() as AddressInfo).port}/refunds`,
      },
    });
    // The plan tries what only the step may do.
    const [plan, act, ...rest] = rehearse(DETAILS, OUTPUTS);
    const calling = (text: string | undefined, answer: string | undefined) => [
      { expect: [{ role: 'user', text }], tool_calls: [REFUND] },
      { expect: [{ role: 'tool', any: true }], text: answer },
    ];
    await product.agent(
      'payer',
      [
        calling(plan, OUTPUTS[0]),
        calling(act, OUTPUTS[1]),
        ...rest.map((text, i) => [{ expect: [{ role: 'user', text }], text: OUTPUTS[i + 2] }]),
      ],
      { tools: ['refund'], mode: 'ask' },
    );
  });
  afterAll(async () => {
    await product?.stop();
    shop?.close();
  });

  const started = async (): Promise<string> => {
    const { agentId: agent_id, title, description, acceptance } = DETAILS;
    const task = { agent_id, title, description, acceptance };
    const { task_id } = await product.api.call<TaskRow>('POST', '/v1/tasks', task);
    await product.api.call('POST', `/v1/tasks/${task_id}/start`);
    return task_id;
  };
  const runs = async () => (await product.api.call<{ data: RunRow[] }>('GET', '/v1/runs?trigger=task')).data;

  test('plans may write nothing, a step that writes asks a person, and the spend of all is the task’s and the ledger’s', async () => {
    const taskId = await started();
    const pending = await eventually(
      async () => (await product.api.call<{ data: ApprovalRow[] }>('GET', '/v1/approvals')).data[0],
      { withinMs: 60_000 },
    );
    const task = await product.until<TaskRow>(taskId, ({ phase }) => phase === 'act');
    expect(task.latest_run_id).toBe(pending.run_id);
    expect(paid).toBe(0);
    await product.api.call('POST', `/v1/approvals/${pending.approval_id}/decision`, { verdict: 'approve' });
    const done = await product.until<TaskRow>(taskId, ({ status }) => status !== 'running', 120_000);
    expect(done).toMatchObject({ status: 'completed', report: OUTPUTS[3], steps_used: 6 });
    expect(paid).toBe(1);
    const { data: own } = await product.api.call<{ data: TaskRunRow[] }>('GET', `/v1/tasks/${taskId}/runs`);
    expect(own).toHaveLength(4);
    // The board hears of a run's end by itself: the executor's rows may be a moment behind it.
    const rows = await eventually(async () => {
      const ended = (await runs()).filter(({ state }) => state === 'succeeded');
      return own.every(({ run_id }) => ended.some((run) => run.run_id === run_id)) && ended;
    });
    expect(rows).toHaveLength(4);
    const spent = rows.reduce((sum, { total_tokens }) => sum + total_tokens, 0);
    expect(done.total_tokens).toBe(spent);
    await eventually(
      async () => {
        const budget = await product.api.call<{ settled: number }>('GET', `/v1/budgets/${product.userId}`);
        return budget.settled === spent;
      },
      { withinMs: 30_000 },
    );
  });

  test('a week without tokens left ends a task with that reason, and the run says so', async () => {
    await product.api.call('PUT', `/v1/budget-caps/owners/${product.userId}`, { tokens: 1 });
    const taskId = await started();
    const task = await product.until<TaskRow>(taskId, ({ status }) => status === 'failed');
    expect(task).toMatchObject({ reason: 'budget_exceeded', total_tokens: 0 });
    await eventually(
      async () => {
        const skipped = (await runs()).filter(({ state }) => state === 'skipped');
        expect(skipped).toMatchObject([{ reason: 'budget_exceeded', trigger: 'task', total_tokens: 0 }]);
        return true;
      },
      { withinMs: 30_000 },
    );
  });
});

import { Product } from './fixture';

jest.setTimeout(180_000);

interface Task {
  task_id: string;
  status: string;
  reason: string | null;
  report: string | null;
  total_tokens: number;
}
const PLAN = JSON.stringify({ steps: [{ title: 'Collect', detail: '' }, { title: 'Write' }] });

describe('tasks, over the whole product', () => {
  let product: Product;
  beforeAll(async () => {
    product = await Product.start();
  });
  afterAll(() => product?.stop());

  const create = (more: object = {}) =>
    product.api.call<Task>('POST', '/v1/tasks', { title: 'Summary', agent_id: 'worker', ...more });

  test('a verifier that misses the declared format three times ends the task, with the reason', async () => {
    await product.agent('worker', [[{ expect: [{ role: 'user', any: true }], text: PLAN }]]);
    const { task_id } = await create();
    await product.api.call('POST', `/v1/tasks/${task_id}/start`);
    const task = await product.until<Task>(task_id, ({ status }) => status !== 'running');
    expect(task).toMatchObject({ status: 'failed', reason: 'invalid_verdict', total_tokens: 90 });
  });
});

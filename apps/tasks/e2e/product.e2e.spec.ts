import path from 'node:path';
import type { TaskRow, TaskRunRow, TaskStepRow } from '@runyard/contracts';
import { eventually, startSpecProcess } from '@runyard/testing';
import type { SpecProcess } from '@runyard/testing';
import { Product } from './fixture';
import { rehearse } from './rehearsal';

jest.setTimeout(600_000);

type Task = TaskRow & { provider: string | null; model: string | null };
type Part = 'executor' | 'board';

const DETAILS = {
  title: 'Summary of the week',
  description: 'Collect what happened and write it up.',
  acceptance: 'Every day of the week is named.',
  agentId: 'worker',
  modelId: null,
  maxSteps: 25,
  blockedBy: [],
  reviewPlan: false,
};
const OUTPUTS = [
  JSON.stringify({ steps: [{ title: 'Collect' }, { title: 'Write', detail: 'One line a day' }] }),
  'Monday to Sunday, collected.',
  'Monday. Tuesday.',
  JSON.stringify({ accepted: false, reason: 'Only two days are named.', redo: [2] }),
  'Monday. Tuesday. Wednesday. Thursday. Friday. Saturday. Sunday.',
  JSON.stringify({ accepted: true, reason: 'All seven are there.' }),
  'The week is written up.',
];
/** Long enough for a process to be killed while its model answers. */
const DELAY_MS = 1_500;

describe('a task, over the whole product', () => {
  let product: Product;
  const parts = new Map<Part, SpecProcess>();

  const spawn = async (part: Part): Promise<void> => {
    const [file, args]: [string, string[]] =
      part === 'board'
        ? ['board-child.ts', product.boardArguments()]
        : ['executor-child.ts', product.executorArguments()];
    const child = startSpecProcess(path.join(__dirname, file), args);
    parts.set(part, child);
    await child.message((message): message is 'serving' => message === 'serving');
  };
  /** kill -9, and another one in its place. */
  const replace = async (part: Part): Promise<void> => {
    await parts.get(part)?.kill();
    await spawn(part);
  };

  beforeAll(async () => {
    product = await Product.start({ executor: null, hostsTasks: false });
    await Promise.all([spawn('executor'), spawn('board')]);
    const dialogs = rehearse(DETAILS, OUTPUTS).map((text, i) => [
      { expect: [{ role: 'user', text }], text: OUTPUTS[i], delay_ms: DELAY_MS },
    ]);
    await product.agent('worker', dialogs);
  });
  afterAll(async () => {
    await Promise.all([...parts.values()].map((child) => child.kill()));
    await product?.stop();
  });

  const get = <Row>(address: string) => product.api.call<Row>('GET', address);

  test('goes through all phases and one failed verification while executor and board are killed on the way', async () => {
    const { agentId: agent_id, title, description, acceptance } = DETAILS;
    const { task_id } = await product.api.call<Task>('POST', '/v1/tasks', {
      agent_id,
      title,
      description,
      acceptance,
    });
    await product.api.call('POST', `/v1/tasks/${task_id}/start`);
    const at = (phase: string, round: number, step: number | null) =>
      product.until<Task>(
        task_id,
        (task) =>
          task.phase === phase &&
          task.round === round &&
          task.current_step === step &&
          task.status === 'running',
        120_000,
      );
    await at('plan', 1, null);
    await replace('board');
    await at('act', 1, 1);
    await replace('executor');
    await at('verify', 1, null);
    await Promise.all([replace('executor'), replace('board')]);
    await at('act', 2, 2);
    await replace('board');
    await at('report', 2, null);
    await Promise.all([replace('executor'), replace('board')]);
    const task = await product.until<Task>(task_id, ({ status }) => status !== 'running', 120_000);

    expect(task).toMatchObject({
      status: 'completed',
      report: OUTPUTS[6],
      round: 2,
      steps_done: 2,
      reason: null,
    });
    const { data: steps } = await get<{ data: TaskStepRow[] }>(`/v1/tasks/${task_id}/steps`);
    expect(steps.map(({ status, result }) => [status, result])).toEqual([
      ['completed', OUTPUTS[1]],
      ['completed', OUTPUTS[4]],
    ]);
    // Each phase and step was one run, however often its request was sent, and the task spent what they spent.
    const { data: runs } = await get<{ data: TaskRunRow[] }>(`/v1/tasks/${task_id}/runs`);
    expect(runs.map(({ phase, state }) => `${phase} ${state}`).toReversed()).toEqual(
      ['plan', 'act', 'act', 'verify', 'act', 'verify', 'report'].map((phase) => `${phase} succeeded`),
    );
    interface RunRow {
      run_id: string;
      output: string;
      total_tokens: number;
    }
    // The board hears of a run's end by itself: the executor's rows may be a moment behind it.
    const page = await eventually(async () => {
      const found = await get<{ data: RunRow[] }>('/v1/runs?trigger=task&state=succeeded');
      return found.data.length >= runs.length && found;
    });
    expect(new Set(page.data.map(({ run_id }) => run_id))).toEqual(new Set(runs.map(({ run_id }) => run_id)));
    expect(task.total_tokens).toBe(page.data.reduce((sum, run) => sum + run.total_tokens, 0));
    expect(task.steps_used).toBe(7);
  });

  test('streams the board: what happens after the stream was opened, and what was missed, without gap or double', async () => {
    const stream = await openBoard(product);
    const placed = await product.api.call<Task>('POST', '/v1/tasks', {
      agent_id: 'worker',
      title: 'x\n\nid: 9\r\nevent: forged',
    });
    await stream.until((seen) => seen.some(({ type }) => type === 'CardPlaced'));
    stream.close();
    const move = { column: 'doing' };
    const { position } = await product.api.call<Task>('POST', `/v1/tasks/${placed.task_id}/move`, move);
    const again = await openBoard(product, stream.lastId());
    await again.until((seen) => seen.some(({ type }) => type === 'CardMoved'));
    again.close();
    const types = (list: readonly { type: string; task_id: string }[]) =>
      list.filter(({ task_id }) => task_id === placed.task_id).map(({ type }) => type);
    expect([...types(stream.seen), ...types(again.seen)]).toEqual(['TaskCreated', 'CardPlaced', 'CardMoved']);
    expect(stream.names).toEqual(new Set(['task-event', 'caught-up']));
    const missed = await get<{ data: { type: string; task_id: string }[] }>(
      `/v1/tasks/events?after=${stream.lastId()}`,
    );
    expect(types(missed.data)).toEqual(['CardMoved']);
    const { data: activity } = await get<{ data: { summary: string }[] }>(
      `/v1/tasks/activity?task_id=${placed.task_id}&at_least=${position}`,
    );
    expect(activity.map(({ summary }) => summary)).toEqual([
      'moved the card from todo to doing',
      'put the task on the board, in todo',
    ]);
  });

  test('answers with what the API promises: codes of refusals, and the route of a task’s own model', async () => {
    const own = await product.api.call<Task>('POST', '/v1/tasks', {
      agent_id: 'worker',
      title: 'M',
      model_id: 'worker',
    });
    expect(own).toMatchObject({
      provider: 'recorded',
      model: 'recorded-model',
      status: 'pending',
      column: 'todo',
    });
    const address = `/v1/tasks/${own.task_id}`;
    await expect(product.api.call('PATCH', address, { fence: 1, title: 'N' })).rejects.toMatchObject({
      status: 409,
      code: 'task_lock_lost',
    });
    const { lock } = await product.api.call<{ lock: { fence: number } }>('POST', `${address}/lock`, {});
    await product.api.call('PUT', `${address}/lock`, { fence: lock.fence });
    await expect(product.api.call('POST', `${address}/lock`, {})).rejects.toMatchObject({
      code: 'task_locked',
    });
    expect(await product.api.call('PATCH', address, { fence: lock.fence, title: 'N' })).toMatchObject({
      title: 'N',
    });
    expect(await product.api.call('DELETE', `${address}?fence=${lock.fence}`)).toMatchObject({
      deleted: true,
    });
    await expect(
      product.api.call('POST', '/v1/tasks', { agent_id: 'worker', title: 'M', model_id: 'none' }),
    ).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(
      product.api.call('POST', '/v1/tasks', { agent_id: 'nobody', title: 'M' }),
    ).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });
});

interface Change {
  type: string;
  task_id: string;
}

/** The board's stream as EventSource reads it; resolves when it has caught up. */
async function openBoard(product: Product, lastEventId?: string) {
  const stop = new AbortController();
  const response = await product.stream('/v1/tasks/events', stop.signal, lastEventId);
  const seen: Change[] = [];
  const names = new Set<string>();
  let last = '';
  const reading = (async () => {
    let rest = '';
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      const frames = (rest + chunk).split('\n\n');
      rest = frames.pop() ?? '';
      for (const frame of frames) {
        const fields = new Map(
          frame
            .split('\n')
            .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
        );
        last = fields.get('id') ?? last;
        const name = fields.get('event');
        if (name) names.add(name);
        if (name === 'task-event') seen.push(JSON.parse(fields.get('data') ?? '') as Change);
      }
    }
  })().catch(() => undefined);
  const until = (is: (seen: readonly Change[]) => boolean) =>
    eventually(() => is(seen), { withinMs: 60_000 });
  await eventually(() => names.has('caught-up'), { withinMs: 60_000 });
  return { seen, names, until, lastId: () => last, close: () => (stop.abort(), void reading) };
}

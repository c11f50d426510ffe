import { expectQuiet, expectSound } from './e2e/invariants';
import { calls, ok } from './e2e/script';
import type { Script } from './e2e/script';
import { TestExecutor } from './e2e/test-executor';
import { World } from './e2e/world';

jest.setTimeout(120_000);

const SIMPLE: Script = {
  model: (_request, step) => (step < 3 ? calls(['look', `{"step":${step}}`]) : { text: 'done' }),
  tool: (call) => ok(`seen ${JSON.stringify(call.arguments)}`),
};

describe('a run', () => {
  it('goes from a request on the bus to rows', async () => {
    await using world = await World.create();
    const executor = await TestExecutor.start(world, SIMPLE);
    const runId = await world.start('k1');
    expect(await world.ended(runId)).toMatchObject({
      type: 'RunSucceeded',
      data: { output: { text: 'done' } },
    });
    const row = await world.row(runId);
    expect(row).toMatchObject({
      state: 'succeeded',
      termination: 'Completed',
      steps: 3,
      tool_calls: 2,
      output: 'done',
      model: 'model-1',
    });
    await expectSound(world, runId, 'k1');
    await expectQuiet(world, [executor]);
    await executor.stop();
  });

  it('is the same run for the same key, and refused for another body', async () => {
    await using world = await World.create();
    const executor = await TestExecutor.start(world, SIMPLE);
    const runId = await world.start('k1');
    expect(await world.request('k1')).toMatchObject({ ok: true, run_id: runId, created: false });
    expect(await world.request('k1', { input: 'other' })).toMatchObject({
      ok: false,
      code: 'idempotency_key_reused',
    });
    await world.ended(runId);
    expect((await world.types(runId)).filter((type) => type === 'RunQueued')).toHaveLength(1);
    await executor.stop();
  });
});

import { messagesOf } from '../domain/transcript';
import { expectPaired, expectQuiet, ofType } from './e2e/invariants';
import { calls, ok } from './e2e/script';
import { TestExecutor } from './e2e/test-executor';
import { CALLER, World } from './e2e/world';

jest.setTimeout(600_000);

const STEPS = 2_000;
const SAMPLE = 200;

it('a run of two thousand steps is as quick at its end as at its beginning', async () => {
  await using world = await World.create({
    behaviour: { bounds: { maxSteps: STEPS + 1, maxToolCalls: STEPS + 1, tokenBudget: 2_000_000_000 } },
  });
  const executor = await TestExecutor.start(world, {
    // The place of a step is that of the messages before it; counting them would itself take longer with each step.
    model: (request) =>
      request.messages.length < 2 * STEPS
        ? calls(['look', `{"at":${request.messages.length}}`])
        : { text: 'done' },
    tool: (call) => ok(`seen ${String(call.arguments.at)}`),
  });
  world.outside.remembers = false;
  const runId = await world.start('long');
  expect(await world.ended(runId, 500_000)).toMatchObject({ type: 'RunSucceeded' });
  const turns = ofType(await world.events(runId), 'ModelTurnCompleted');
  expect(turns).toHaveLength(STEPS + 1);
  // The middle one of many: a machine that is busy for a while delays some steps, not most.
  const perStep = (from: number): number => {
    const times = turns.slice(from, from + SAMPLE + 1).map(({ time }) => time);
    const gaps = times.slice(10).map((time, i) => (time - (times[i] ?? 0)) / 10);
    return gaps.toSorted((a, b) => a - b)[Math.floor(gaps.length / 2)] ?? Infinity;
  };
  const [first, last] = [perStep(10), perStep(STEPS - SAMPLE)];
  console.log(
    `${STEPS} steps: ${first.toFixed(2)} ms a step at first, ${last.toFixed(2)} ms at last, ratio ${(last / first).toFixed(2)} (wanted: 2)`,
  );
  expect(last / first).toBeLessThan(5);
  const { run } = await executor.executor.runs.load(CALLER.org, runId);
  expectPaired(run.situation === 'none' ? [] : messagesOf(run.transcript));
  expect(await world.row(runId)).toMatchObject({ steps: STEPS + 1, tool_calls: STEPS, state: 'succeeded' });
  await expectQuiet(world, [executor]);
  await executor.stop();
});

it('takes over a run of a thousand steps without reading it for long', async () => {
  await using world = await World.create({
    behaviour: { bounds: { maxSteps: 1_100, maxToolCalls: 1_100, tokenBudget: 2_000_000_000 } },
  });
  world.outside.remembers = false;
  let stop = (): void => undefined;
  const halfway = new Promise<void>((resolve) => (stop = resolve));
  const first = await TestExecutor.start(
    world,
    {
      model: async (request) => {
        if (request.messages.length === 2_001 && first.alive) {
          stop();
          await new Promise(() => undefined);
        }
        return request.messages.length < 2_020 ? calls(['look', '{}']) : { text: 'done' };
      },
      tool: () => ok('seen'),
    },
    { works: false },
  );
  await first.take(world.requestFor('half'));
  await halfway;
  const heir = await TestExecutor.start(world, null, { works: false });
  await first.die();
  const startedAt = performance.now();
  expect(await heir.executor.drivers.takeOver(CALLER.org, world.runId('half'), 'no_responders')).toBe(
    'driving',
  );
  const took = performance.now() - startedAt;
  console.log(`taking over a run of 1,000 steps: ${Math.round(took)} ms`);
  expect(took).toBeLessThan(20_000);
  expect(await world.ended(world.runId('half'))).toMatchObject({ type: 'RunSucceeded' });
  await heir.stop();
});

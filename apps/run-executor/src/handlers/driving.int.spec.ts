import { setTimeout as wait } from 'node:timers/promises';
import { eventually } from '@runyard/testing';
import { expectSound, ofType } from './e2e/invariants';
import { calls, ok } from './e2e/script';
import { GateTap } from './e2e/taps';
import { TestExecutor } from './e2e/test-executor';
import { CALLER, World } from './e2e/world';

jest.setTimeout(120_000);

let world: World;
beforeAll(async () => void (world = await World.create()));
afterAll(() => world[Symbol.asyncDispose]());

/** An executor whose calls a spec can hold back; it takes up only what it is given. */
async function gated(): Promise<{ executor: TestExecutor; tap: GateTap }> {
  const tap = new GateTap();
  return { executor: await TestExecutor.start(world, null, { tap, works: false }), tap };
}

const deferred = (): { promise: Promise<void>; resolve: () => void } => {
  let resolve = (): void => undefined;
  return { promise: new Promise<void>((done) => (resolve = done)), resolve };
};

it('runs a call once that comes back while the result of another one is being recorded', async () => {
  const { executor, tap } = await gated();
  const second = deferred();
  world.outside.script = {
    model: (_request, step) => (step === 1 ? calls(['look', '{}'], ['write', '{}']) : { text: 'done' }),
    tool: async (call) => {
      if (call.tool.name === 'write') await second.promise;
      return ok('seen');
    },
  };
  const recording = tap.hold((what) => what.includes('ToolCallSucceeded'), 'before');
  await executor.take(world.requestFor('twice'));
  await recording.reached;
  second.resolve();
  await wait(20);
  recording.open();
  await world.ended(world.runId('twice'));
  await expectSound(world, world.runId('twice'), 'twice');
  await executor.stop();
});

it('ends at once when a cancel arrives before the announced call was sent, and never sends it', async () => {
  const { executor, tap } = await gated();
  world.outside.script = { model: () => calls(['write', '{}']), tool: () => ok('written') };
  const announced = tap.hold((what) => what.includes('ToolCallStarted'), 'after');
  await executor.take(world.requestFor('unsent'));
  const runId = world.runId('unsent');
  await announced.reached;
  const answer = await executor.controls.cancel(CALLER, { run_id: runId });
  expect(answer).toMatchObject({ state: 'running', cancel_requested: true });
  await wait(50);
  announced.open();
  await world.ended(runId, 30_000);
  const events = await expectSound(world, runId, 'unsent');
  expect(events.slice(-2).map((event) => event.type)).toEqual(['ToolCallCancelled', 'RunCancelled']);
  expect(world.outside.toolsOf(runId)).toEqual([]);
  await executor.stop();
});

it('books nothing for a model call that a cancel forbade before it was sent', async () => {
  const { executor, tap } = await gated();
  world.outside.script = {
    model: (_request, step) => (step === 1 ? calls(['look', '{}']) : { text: 'late' }),
    tool: () => ok('seen'),
  };
  const announced = tap.hold((what) => what.includes('ToolCallSucceeded'), 'after');
  await executor.take(world.requestFor('unasked'));
  const runId = world.runId('unasked');
  await announced.reached;
  await executor.controls.cancel(CALLER, { run_id: runId });
  await wait(50);
  announced.open();
  await world.ended(runId, 30_000);
  const events = await expectSound(world, runId, 'unasked');
  expect(world.outside.calledFor('unasked')).toHaveLength(1);
  expect(
    ofType(events, 'ModelCallFailed').map((event) => [event.data.error.code, event.data.usage.input]),
  ).toEqual([['cancelled', 0]]);
  await executor.stop();
});

it('parks without asking the model when a pause arrives before the announced call was sent', async () => {
  const { executor, tap } = await gated();
  const never = deferred();
  world.outside.script = {
    model: async (_request, step) =>
      step === 1 ? calls(['look', '{}']) : never.promise.then(() => ({ text: 'done' })),
    tool: () => ok('seen'),
  };
  const announced = tap.hold((what) => what.includes('ToolCallSucceeded'), 'after');
  await executor.take(world.requestFor('parked'));
  const runId = world.runId('parked');
  await announced.reached;
  await executor.controls.pause(CALLER, { run_id: runId });
  await wait(50);
  announced.open();
  await world.logged(runId, 'RunPaused', 30_000);
  expect(world.outside.calledFor('parked')).toHaveLength(1);
  await eventually(() => executor.executor.drivers.runIds().length === 0);
  never.resolve();
  await executor.controls.resume(CALLER, { run_id: runId });
  await executor.hear(runId);
  await world.ended(runId);
  await expectSound(world, runId, 'parked');
  await executor.stop();
});

it('finishes what it has announced when it is stopped, so that no effect becomes unknown', async () => {
  const { executor, tap } = await gated();
  world.outside.script = {
    model: (_request, step) => (step === 1 ? calls(['write', '{}'], ['look', '{}']) : { text: 'done' }),
    tool: async () => {
      await wait(50);
      return ok('ok');
    },
  };
  const announced = tap.hold((what) => what.includes('ToolCallStarted'), 'after');
  await executor.take(world.requestFor('stopped'));
  const runId = world.runId('stopped');
  await announced.reached;
  const stopped = executor.stop();
  await wait(50);
  announced.open();
  await stopped;
  expect(ofType(await world.events(runId), 'ToolCallSucceeded')).toHaveLength(2);
  const heir = await TestExecutor.start(world);
  expect(await world.ended(runId)).toMatchObject({ type: 'RunSucceeded' });
  await expectSound(world, runId, 'stopped');
  await heir.stop();
});

it('hands a run over whose model call was announced and not sent, at no cost', async () => {
  const { executor, tap } = await gated();
  world.outside.script = {
    model: (_request, step) => (step === 1 ? calls(['look', '{}']) : { text: 'done' }),
    tool: () => ok('ok'),
  };
  const announced = tap.hold((what) => what.includes('ToolCallSucceeded'), 'after');
  await executor.take(world.requestFor('handed'));
  const runId = world.runId('handed');
  await announced.reached;
  const stopped = executor.stop();
  await wait(50);
  announced.open();
  await stopped;
  const heir = await TestExecutor.start(world);
  await world.ended(runId);
  const events = await expectSound(world, runId, 'handed');
  expect(ofType(events, 'ModelCallFailed').map((event) => event.data.usage.input)).toEqual([0]);
  await heir.stop();
});

it('dispatches nothing that it announced long ago without reading what happened since (P4.2)', async () => {
  const { executor, tap } = await gated();
  world.outside.script = {
    model: (_request, step) => (step === 1 ? calls(['write', '{}']) : { text: 'done' }),
    tool: () => ok('ok'),
  };
  const claimed = tap.hold((what) => what.includes('RunStarted'), 'after');
  const taken = executor.take(world.requestFor('frozen'));
  const runId = world.runId('frozen');
  await claimed.reached;
  // The process stood still after its claim was stored; meanwhile somebody else took over.
  const heir = await TestExecutor.start(world, null, { works: false });
  expect(await heir.executor.drivers.takeOver(CALLER.org, runId, 'silent')).toBe('driving');
  await world.ended(runId);
  await wait(600);
  claimed.open();
  await taken;
  await eventually(() => executor.executor.drivers.runIds().length === 0);
  expect(world.outside.calledFor('frozen')).toHaveLength(2);
  await expectSound(world, runId, 'frozen');
  await Promise.all([executor.stop(), heir.stop()]);
});

import { ofType } from './e2e/invariants';
import { ok } from './e2e/script';
import { TestExecutor } from './e2e/test-executor';
import { World } from './e2e/world';

jest.setTimeout(120_000);

let world: World;
beforeAll(async () => void (world = await World.create()));
afterAll(() => world[Symbol.asyncDispose]());

it('waits for a model no longer than it may: what was asked is broken off, booked and asked again elsewhere', async () => {
  const asked = new Promise<void>((reached) => {
    world.outside.script = { model: () => (reached(), new Promise(() => undefined)), tool: () => ok('ok') };
  });
  const executor = await TestExecutor.start(world, null, { works: false });
  await executor.take(world.requestFor('slow'));
  const runId = world.runId('slow');
  await asked;
  const before = performance.now();
  await executor.executor.drivers.stop(200);
  expect(performance.now() - before).toBeLessThan(20_000);
  const [failed] = ofType(await world.events(runId), 'ModelCallFailed');
  expect(failed?.data).toMatchObject({
    error: { code: 'cancelled' },
    next: 'retry',
    usage: { estimated: true },
  });
  const heir = await TestExecutor.start(world, { model: () => ({ text: 'done' }), tool: () => ok('ok') });
  expect(await world.ended(runId)).toMatchObject({ type: 'RunSucceeded' });
  await Promise.all([executor.stop(), heir.stop()]);
});

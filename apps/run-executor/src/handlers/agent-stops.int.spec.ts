import { eventually } from '@runyard/testing';
import { calls, ok } from './e2e/script';
import { TestExecutor } from './e2e/test-executor';
import { World } from './e2e/world';

jest.setTimeout(300_000);

let world: World;
let letGo: () => void;
beforeAll(async () => {
  world = await World.create();
});
afterAll(() => world[Symbol.asyncDispose]());

it('an agent that is switched off loses its queue and finishes what runs; purged, it takes its runs along', async () => {
  const held = new Promise<void>((resolve) => (letGo = resolve));
  await TestExecutor.start(
    world,
    {
      model: (_request, step) => (step === 1 ? calls(['look', '{}']) : { text: 'done' }),
      tool: async () => {
        await held;
        return ok('seen');
      },
    },
    { config: { places: 1 } },
  );
  const running = await world.start('running');
  const queued = await world.start('queued');
  await eventually(async () => (await world.row(queued)).state === 'queued');
  await world.append('agents', 'agent', [{ type: 'AgentDisabled', data: { reason: null } }]);
  await world.ended(queued);
  expect(await world.row(queued)).toMatchObject({ state: 'cancelled', reason: 'agent_stopped' });
  expect(await world.row(running)).toMatchObject({ state: 'running' });
  letGo();
  await world.ended(running);
  expect(await world.row(running)).toMatchObject({ state: 'succeeded' });
  await world.append('agents', 'agent', [{ type: 'AgentDeleted', data: { history: 'purge' } }]);
  await eventually(async () => (await world.rows('SELECT 1 FROM agent_runs')).length === 0, {
    withinMs: 30_000,
  });
});

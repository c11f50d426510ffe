import { eventually } from '@runyard/testing';
import { calls, ok } from './e2e/script';
import { TestExecutor } from './e2e/test-executor';
import { ORG, World } from './e2e/world';

jest.setTimeout(300_000);

let world: World;
let letGo: () => void;
beforeAll(async () => {
  world = await World.create();
});
afterAll(() => world[Symbol.asyncDispose]());

it('a run that no row shows yet when its agent is stopped does not start, and its place is free', async () => {
  // One that has no place only queues; the other one takes over.
  const full = await TestExecutor.start(world, null, { works: false, config: { places: 0 } });
  const { executor } = await TestExecutor.start(world, null, { works: false });
  const take = (key: string) => full.executor.intakeProcess.take(ORG, world.requestFor(key));
  const runId = world.runId('unseen');
  expect(await take('unseen')).toMatchObject({ ok: true, state: 'queued' });
  await world.append('agents', 'agent', [{ type: 'AgentDisabled', data: { reason: null } }]);
  // The claim alone must see it: nothing reacts to the stop here.
  expect(await executor.drivers.takeOver(ORG, runId, 'woken', { epoch: 0 })).toBe('nothing_to_do');
  const types = (await world.events(runId)).map(({ type }) => type);
  expect(types).toEqual(['RunQueued', 'RunCancelRequested', 'RunCancelled']);
  await world.append('agents', 'agent', [
    { type: 'AgentEnabled', data: { reason: null, ownerActive: true, adminPaused: false } },
  ]);
  expect(await take('next')).toMatchObject({ ok: true, state: 'queued' });
  expect(await executor.drivers.takeOver(ORG, world.runId('next'), 'woken', { epoch: 0 })).toBe('driving');
  await world.ended(world.runId('next'));
});

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

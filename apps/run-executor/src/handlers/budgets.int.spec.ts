import { Problem } from '@runyard/contracts';
import { eventually } from '@runyard/testing';
import type { Answer } from './e2e/script';
import { TestExecutor } from './e2e/test-executor';
import { CALLER, World } from './e2e/world';

jest.setTimeout(120_000);

let world: World;
let executor: TestExecutor;
beforeAll(async () => {
  world = await World.create({ details: { concurrency: 'agent' } });
  executor = await TestExecutor.start(world);
});
afterAll(async () => {
  await executor?.stop();
  await world?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  world.budgets.cap = null;
  world.budgets.away = undefined;
  world.budgets.held.clear();
  world.outside.script = { model: () => ({ text: 'done' }), tool: () => ({ ok: true, text: 'ok' }) };
});

const slots = () => world.rows("SELECT run_id FROM run_slots WHERE kind = 'agent'");
const turn = (input: number, output: number, text = 'done'): Answer => ({
  text,
  usage: { input, output, cached: 0, estimated: false },
});

it('leaves a skipped run where the week has less left than the first call may need, and frees the agent', async () => {
  world.budgets.cap = 100;
  const answer = await world.request('too-little');
  expect(answer).toMatchObject({ ok: true, state: 'skipped', reason: 'budget_exceeded', created: true });
  expect(world.outside.calledFor('too-little')).toEqual([]);
  await eventually(async () => (await slots()).length === 0);
  expect(await world.request('too-little')).toMatchObject({ state: 'skipped', created: false });
  world.budgets.cap = null;
  expect(await world.request('enough')).toMatchObject({ ok: true, created: true });
  await world.ended(world.runId('enough'));
});

it('runs with what the week has left, records it at every step, and ends weekly_budget when it is used up', async () => {
  world.budgets.cap = 20_000;
  const calls = [{ providerCallId: '1', tool: 'look', arguments: '{}' }];
  world.outside.script = {
    model: (_request, step) => ({ ...turn(9_900, 50, 'go on'), toolCalls: step < 9 ? calls : [] }),
    tool: () => ({ ok: true, text: 'ok' }),
  };
  const runId = await world.start('capped');
  expect(await world.ended(runId)).toMatchObject({
    type: 'RunFailed',
    data: { termination: 'BudgetExceeded', reason: 'weekly_budget', spend: { own: 19_900 } },
  });
  const events = await world.events(runId);
  expect(events[0]).toMatchObject({
    data: { grantTokens: 20_000, weeklyCapped: true, weeklyTokens: 20_000 },
  });
  const left = events.flatMap((event) =>
    event.type === 'BudgetSnapshotTaken' ? [event.data.weeklyTokens] : [],
  );
  expect(new Set(left)).toEqual(new Set([20_000, 10_050, 100]));
});

it('ends at once where a provider counted more than the grant, and dispatches nothing more (P6.2)', async () => {
  const calls = [{ providerCallId: '1', tool: 'write', arguments: '{}' }];
  world.outside.script = {
    model: () => ({ ...turn(190_000, 20_000, 'go on'), toolCalls: calls }),
    tool: () => ({ ok: true, text: 'ok' }),
  };
  const runId = await world.start('overrun', { mode: 'auto' });
  expect(await world.ended(runId)).toMatchObject({
    type: 'RunFailed',
    data: { reason: 'token_budget', spend: { own: 210_000 } },
  });
  expect(world.outside.toolsOf(runId)).toEqual([]);
});

it('waits for a ledger that is away, and starts nothing unreserved', async () => {
  world.budgets.away = new Problem('unavailable', 'budget-ledger is not running; try again shortly');
  const answer = world.request('waiting');
  await expect(executor.take(world.requestFor('waiting'))).rejects.toMatchObject({ code: 'unavailable' });
  expect(await world.types(world.runId('waiting'))).toEqual([]);
  world.budgets.away = undefined;
  expect(await answer).toMatchObject({ ok: true, created: true });
  expect(await world.ended(world.runId('waiting'))).toMatchObject({ type: 'RunSucceeded' });
});

it('reserves more before a run is extended, and refuses what the week has not', async () => {
  let go = (): void => undefined;
  const held = new Promise<void>((resolve) => (go = resolve));
  world.outside.script = {
    model: async () => (await held, turn(10, 5)),
    tool: () => ({ ok: true, text: 'ok' }),
  };
  world.budgets.cap = 250_000;
  const runId = await world.start('extended');
  await executor.controls.extend(CALLER, { run_id: runId, tokens: 30_000 });
  expect(world.budgets.held.get(runId)?.tokens).toBe(230_000);
  await executor.controls.extend(CALLER, { run_id: runId, tokens: 100_000 });
  expect(world.budgets.held.get(runId)?.tokens).toBe(250_000);
  await expect(executor.controls.extend(CALLER, { run_id: runId, tokens: 1 })).rejects.toMatchObject({
    code: 'run_not_controllable',
  });
  const extended = (await world.events(runId)).flatMap((event) =>
    event.type === 'RunExtended' ? [event.data.tokens] : [],
  );
  expect(extended).toEqual([30_000, 20_000]);
  go();
  await world.ended(runId);
});

it('gives back what it reserved for a run that somebody else skipped meanwhile (P2.5)', async () => {
  const run = world.runId('skipped-by-other');
  world.budgets.cap = 100;
  const other = await TestExecutor.start(world, null, { works: false });
  await other.take(world.requestFor('skipped-by-other'));
  world.budgets.cap = null;
  expect(world.budgets.held.has(run)).toBe(false);
  await eventually(async () => (await slots()).length === 0);
  expect(await executor.take(world.requestFor('skipped-by-other'))).toMatchObject({ state: 'skipped' });
  expect(world.budgets.held.has(run)).toBe(false);
  await other.stop();
});

import { setTimeout as wait } from 'node:timers/promises';
import { eventually } from '@runyard/testing';
import { answering, childrenOf, delegates, expectSoundTree, familyWorld, treeOf } from './e2e/family';
import { expectQuiet, ofType } from './e2e/invariants';
import { calls, ok } from './e2e/script';
import { CrashTap } from './e2e/taps';
import { TestExecutor } from './e2e/test-executor';
import type { ToolResult } from '../tools/types';
import { CancellationController } from './cancellation.controller';
import { CALLER } from './e2e/world';
import type { World } from './e2e/world';

jest.setTimeout(180_000);

let world: World;
let executor: TestExecutor;
beforeAll(async () => {
  world = await familyWorld();
  executor = await TestExecutor.start(world);
});
afterAll(() => world[Symbol.asyncDispose]());
const receipts = () => new CancellationController(executor.executor);

it('C14 cancels every descendant long before its model answers, and ends only after them (Kilo-Org/kilocode#11758)', async () => {
  const forever = async () => (await wait(60_000, null, { ref: false }), { text: 'too late' });
  world.outside.script = answering((input) => {
    if (input === 'tree') return [delegates('tree a', 'tree b')];
    return input === 'tree a' ? [delegates('tree aa')] : [forever()];
  });
  const runId = await world.start('tree');
  await eventually(() => world.outside.open === 2, { withinMs: 30_000 });
  await executor.controls.cancel(CALLER, { run_id: runId });
  const cancelledAt = performance.now();
  await world.ended(runId);
  expect(performance.now() - cancelledAt).toBeLessThan(30_000);
  expect(world.outside.open).toBe(0);
  const tree = await treeOf(world, runId);
  expect(tree.size).toBe(4);
  for (const events of tree.values()) expect(events.at(-1)?.type).toBe('RunCancelled');
  await expectSoundTree(world, runId);
  const receipt = await receipts().receipt(CALLER, { run_id: runId });
  expect(receipt).toMatchObject({
    requested_by: CALLER.actor,
    reason: 'user',
    confirmed: true,
    unconfirmed: [],
    truncated: false,
  });
  expect(receipt.runs.map(({ run_id }) => run_id).toSorted()).toEqual([...tree.keys()].toSorted());
  const stopped = receipt.runs.flatMap(({ stopped: effects }) => effects);
  expect(stopped.filter(({ kind }) => kind === 'model_call').map(({ outcome }) => outcome)).toEqual([
    'cancelled',
    'cancelled',
  ]);
  const ends = [...tree.values()].map((events) => events.at(-1)?.time ?? 0);
  expect(receipt.quiet_at).toBe(new Date(Math.max(...ends)).toISOString());
  expect(receipt.tokens_after_request).toBeGreaterThan(0);
  await expect(
    receipts().receipt({ ...CALLER, userId: null, actor: 'user:stranger' }, { run_id: runId }),
  ).rejects.toMatchObject({ code: 'forbidden' });
});

it('names whoever has not confirmed the cancel, and says where nobody asked', async () => {
  let go = (): void => undefined;
  const held = new Promise<ToolResult>((resolve) => (go = () => resolve(ok('at last'))));
  world.outside.script = answering(
    (input) => (input === 'stubborn' ? [delegates('stubborn a')] : [calls(['look', '{}'])]),
    // Heeds no abort: whoever drives the child has to wait for it before the child can end.
    () => held,
  );
  const runId = await world.start('stubborn');
  const [child = ''] = await eventually(
    async () => {
      const children = childrenOf(await world.events(runId));
      return children.length === 1 && children;
    },
    { withinMs: 30_000 },
  );
  await eventually(() => world.outside.toolsOf(child).length === 1, { withinMs: 30_000 });
  expect(await receipts().receipt(CALLER, { run_id: runId })).toMatchObject({
    requested_at: null,
    confirmed: false,
    runs: [],
  });
  await executor.controls.cancel(CALLER, { run_id: runId });
  await world.logged(child, 'RunCancelRequested');
  const early = await receipts().receipt(CALLER, { run_id: runId });
  // The parent is to end after its child (P6.5), so that it cannot have confirmed either.
  expect(early).toMatchObject({ confirmed: false, unconfirmed: [runId, child], quiet_at: null });
  expect(early.runs.map(({ run_id, confirmed }) => [run_id, confirmed])).toEqual([
    [runId, false],
    [child, false],
  ]);
  go();
  await world.ended(runId);
  const late = await receipts().receipt(CALLER, { run_id: runId });
  expect(late).toMatchObject({ confirmed: true, unconfirmed: [], requested_at: early.requested_at });
  expect(late.quiet_at).not.toBeNull();
});

it('ends a run whose deadline has passed only after the child that it cancels first (P6.5)', async () => {
  const forever = async () => (await wait(60_000, null, { ref: false }), { text: 'too late' });
  world.outside.script = answering(
    (input) =>
      input === 'late'
        ? [calls(['ask', JSON.stringify({ task: 'late child' })], ['look', '{}'])]
        : [forever()],
    // Something of its own is under way, or the deadline would stand still.
    ({ signal }) =>
      new Promise((resolve) =>
        signal.addEventListener('abort', () => resolve(ok('broken off')), { once: true }),
      ),
  );
  const runId = await world.start('late', { bounds: { deadline_seconds: 2 } });
  expect(await world.ended(runId, 60_000)).toMatchObject({
    type: 'RunFailed',
    data: { termination: 'Deadline', reason: 'deadline' },
  });
  const [child = ''] = childrenOf(await world.events(runId));
  expect((await world.events(child)).at(-1)).toMatchObject({
    type: 'RunCancelled',
    data: { reason: 'parent', parentRunId: runId },
  });
  await expectSoundTree(world, runId);
});

it('loses no child with an executor, and asks for none twice', async () => {
  world.outside.script = answering((input) =>
    input.includes('child')
      ? [{ text: 'answer' }]
      : [delegates(`${input} child 1`, `${input} child 2`), { text: 'done' }],
  );
  for (let at = 0; at < 24; at++) {
    const key = `killed ${at}`;
    const tap = new CrashTap(at);
    const mortal = await TestExecutor.start(world, null, { works: false, tap });
    const request = world.requestFor(key);
    await mortal.take(request).catch(() => executor.take(request));
    const runId = world.runId(key);
    expect(await world.ended(runId, 60_000)).toMatchObject({ type: 'RunSucceeded' });
    await expectSoundTree(world, runId);
    const events = await world.events(runId);
    expect({ at, last: tap.last, children: childrenOf(events).length }).toEqual({
      at,
      last: tap.last,
      children: 2,
    });
    expect(ofType(events, 'ChildSettled').every(({ data }) => data.state === 'succeeded')).toBe(true);
    if (mortal.alive) await mortal.stop();
  }
});

it('leaves rows that equal their replay', () => expectQuiet(world, [executor]));

import { setTimeout as wait } from 'node:timers/promises';
import { subjectOf } from '@runyard/contracts';
import { eventually } from '@runyard/testing';
import { answering, childrenOf, delegates, expectSoundTree, familyWorld, treeOf } from './e2e/family';
import { expectQuiet, ofType } from './e2e/invariants';
import { CrashTap } from './e2e/taps';
import { TestExecutor } from './e2e/test-executor';
import { CancellationController } from './cancellation.controller';
import { CALLER, ORG } from './e2e/world';
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

it('C14 cancels every descendant within 5 s, and ends only after them (Kilo-Org/kilocode#11758)', async () => {
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
  expect(performance.now() - cancelledAt).toBeLessThan(5_000);
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
  world.outside.script = answering((input) => (input === 'stubborn' ? [delegates('stubborn a')] : [held]));
  let go = (): void => undefined;
  const held = new Promise<{ text: string }>((resolve) => (go = () => resolve({ text: 'at last' })));
  const runId = await world.start('stubborn');
  await eventually(async () => childrenOf(await world.events(runId)).length === 1);
  expect(await receipts().receipt(CALLER, { run_id: runId })).toMatchObject({
    requested_at: null,
    confirmed: false,
    runs: [],
  });
  const [child = ''] = childrenOf(await world.events(runId));
  await world.logged(child, 'ModelCallStarted');
  // Only the parent is asked here: its child has not heard of it yet.
  await world.bus.log.append({
    subject: subjectOf('runs', ORG, runId),
    expected: await world.bus.log.lastSequence(subjectOf('runs', ORG, runId)),
    events: [{ type: 'RunCancelRequested', data: { reason: 'user' } }],
    meta: { actor: 'user:ada', source: 'spec' },
  });
  const early = await receipts().receipt(CALLER, { run_id: runId });
  expect(early.confirmed || early.unconfirmed.includes(runId)).toBe(true);
  await world.ended(runId);
  go();
  expect(await receipts().receipt(CALLER, { run_id: runId })).toMatchObject({
    confirmed: true,
    unconfirmed: [],
  });
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

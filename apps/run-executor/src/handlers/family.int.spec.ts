import { setTimeout as wait } from 'node:timers/promises';
import { eventually } from '@runyard/testing';
import { answering, childrenOf, delegates, expectSoundTree, familyWorld, treeOf } from './e2e/family';
import { expectQuiet, ofType } from './e2e/invariants';
import { CrashTap } from './e2e/taps';
import { TestExecutor } from './e2e/test-executor';
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

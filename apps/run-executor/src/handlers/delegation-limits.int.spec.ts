import { childKey, DELEGATOR } from '@runyard/contracts';
import { eventually } from '@runyard/testing';
import { answering, childrenOf, delegates, expectSoundTree, familyWorld, treeOf } from './e2e/family';
import { ofType } from './e2e/invariants';
import { TestExecutor } from './e2e/test-executor';
import type { World } from './e2e/world';

jest.setTimeout(180_000);

/** How far delegation may go, who may ask for it, and that it needs no more places than there are. */

let world: World;
beforeAll(
  async () => void (world = await familyWorld({ behaviour: { mode: 'auto', bounds: { maxDepth: 2 } } })),
);
afterAll(() => world[Symbol.asyncDispose]());

it('lets children answer though waiting parents are all that the only place has had (P5.3)', async () => {
  const executor = await TestExecutor.start(world, null, { config: { places: 1 } });
  world.outside.script = answering((input) =>
    input.endsWith('leaf')
      ? [{ text: 'leaf' }]
      : input.endsWith('branch')
        ? [delegates(`${input} leaf`), { text: 'branch' }]
        : [delegates(`${input} branch`), { text: 'done' }],
  );
  const keys = ['p1', 'p2', 'p3'];
  const ids = await Promise.all(keys.map((key) => world.start(key)));
  for (const runId of ids) {
    expect(await world.ended(runId, 60_000)).toMatchObject({ type: 'RunSucceeded' });
    expect((await treeOf(world, runId)).size).toBe(3);
    await expectSoundTree(world, runId);
  }
  await executor.stop();
});

it('C15 goes no deeper than the root may, whatever is asked below, and stays within its grant (Hmbown/Codewhale#5253)', async () => {
  const executor = await TestExecutor.start(world);
  // Everybody always asks for five more.
  const five = (input: string) => delegates(...[1, 2, 3, 4, 5].map((n) => `${input}.${n}`));
  world.outside.script = answering((input) => [five(input), { text: 'enough' }]);
  const runId = await world.start('greedy');
  await world.ended(runId, 120_000);
  const tree = await treeOf(world, runId);
  const depths = await Promise.all([...tree.keys()].map(async (id) => Number((await world.row(id)).depth)));
  expect(Math.max(...depths)).toBe(2);
  expect(tree.size).toBe(1 + 5 + 25);
  const refusals = [...tree.values()].flatMap((events) =>
    ofType(events, 'ToolCallFailed').flatMap(({ data }) =>
      data.error.code === 'depth_cap' ? [data.observation] : [],
    ),
  );
  expect(refusals).toHaveLength(25 * 5);
  expect(refusals[0]).toEqual({ text: expect.stringContaining('Delegation may go 2 deep') });
  const grant = ofType(tree.get(runId) ?? [], 'RunQueued')[0]?.data.grantTokens ?? 0;
  expect(await expectSoundTree(world, runId)).toBeLessThanOrEqual(grant);
  await executor.stop();
});

it('takes no delegated run that its parent has not granted, whoever publishes it', async () => {
  const executor = await TestExecutor.start(world);
  let go = (): void => undefined;
  const held = new Promise<{ text: string }>((resolve) => (go = () => resolve({ text: 'answer' })));
  world.outside.script = answering((input) =>
    input === 'honest' ? [delegates('honest task'), { text: 'done' }] : [held],
  );
  const runId = await world.start('honest');
  await eventually(async () => childrenOf(await world.events(runId)).length === 1);
  const [call] = ofType(await world.events(runId), 'ChildGranted');
  const callId = call?.data.callId ?? '';
  const parent = { run_id: runId, call_id: callId, attempt: 1 };
  const forged: [string, object][] = [
    ['of a stranger', { key: 'mine', requested_by: 'user:mallory', trigger: 'delegated', parent }],
    ['without a parent', { key: 'alone', requested_by: DELEGATOR, trigger: 'delegated' }],
    ['under a key of the executor', { key: childKey(runId, callId, 9) }],
    [
      'for a call that was never made',
      {
        key: childKey(runId, 'c9-9', 1),
        requested_by: DELEGATOR,
        trigger: 'delegated',
        parent: { ...parent, call_id: 'c9-9' },
      },
    ],
    [
      'for another agent',
      {
        key: childKey(runId, callId, 1),
        requested_by: DELEGATOR,
        trigger: 'delegated',
        parent,
        agent_id: 'agent',
      },
    ],
    [
      'for another task',
      {
        key: childKey(runId, callId, 1),
        requested_by: DELEGATOR,
        trigger: 'delegated',
        parent,
        input: 'steal',
      },
    ],
  ];
  for (const [what, body] of forged) {
    const answer = await world
      .request('forged', { agent_id: 'helper', input: 'honest task', ...body })
      .catch((error: unknown) => ({ ok: false, code: String(error) }));
    expect([what, answer.ok]).toEqual([what, false]);
  }
  expect(childrenOf(await world.events(runId))).toHaveLength(1);
  go();
  await world.ended(runId);
  const tree = await treeOf(world, runId);
  expect(tree.size).toBe(2);
  await expectSoundTree(world, runId);
  await executor.stop();
});

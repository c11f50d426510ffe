import { eventually } from '@runyard/testing';
import { answering, delegates, childrenOf, expectSoundTree, familyWorld, HELPER_OWNER } from './e2e/family';
import { expectQuiet, expectSound, ofType } from './e2e/invariants';
import { calls } from './e2e/script';
import { TestExecutor } from './e2e/test-executor';
import { OWNER } from './e2e/world';
import type { World } from './e2e/world';

jest.setTimeout(120_000);

let world: World;
let executor: TestExecutor;
beforeAll(async () => {
  world = await familyWorld();
  executor = await TestExecutor.start(world);
});
afterAll(() => world[Symbol.asyncDispose]());

describe('a call of an agent tool', () => {
  it('is a run of its own whose answer is the observation', async () => {
    world.outside.script = answering((input) =>
      input === 'plain' ? [delegates('plain: look it up'), { text: 'So it is.' }] : [{ text: 'It is 42.' }],
    );
    const runId = await world.start('plain');
    await world.ended(runId);
    const events = await expectSound(world, runId, 'plain');
    const [childId = ''] = childrenOf(events);
    await expectSound(world, childId, 'plain: look it up');
    await expectSoundTree(world, runId);
    expect(events.map(({ type }) => type)).toEqual([
      'RunQueued',
      'RunStarted',
      'BudgetSnapshotTaken',
      'ModelCallStarted',
      'ModelTurnCompleted',
      'BudgetSnapshotTaken',
      'ChildGranted',
      'ToolCallStarted',
      'ChildRequested',
      'RunAwaitingChildren',
      'ChildSettled',
      'ToolCallSucceeded',
      'RunRecovered',
      'BudgetSnapshotTaken',
      'ModelCallStarted',
      'ModelTurnCompleted',
      'RunSucceeded',
    ]);
    expect(ofType(events, 'ToolCallSucceeded')[0]?.data.observation).toEqual({ text: 'It is 42.' });
    expect(await world.row(childId)).toMatchObject({
      state: 'succeeded',
      trigger: 'delegated',
      parent_run_id: runId,
      root_run_id: runId,
      depth: 1,
      user_id: OWNER,
      owner_id: HELPER_OWNER,
      requested_by: `user:${OWNER}`,
      agent_id: 'helper',
      output: 'It is 42.',
    });
    const row = await world.row(runId);
    expect(row).toMatchObject({ state: 'succeeded', depth: 0, total_tokens: 30n });
    expect(JSON.stringify(row.entries)).toContain(childId);
    const steps = await world.rows('SELECT child_run_id FROM agent_steps WHERE run_id = $1 ORDER BY seq', [
      runId,
    ]);
    expect(steps.map(({ child_run_id }) => child_run_id)).toEqual([null, childId, null]);
  });

  it('gives parallel children equal shares, and takes what they do not use back', async () => {
    world.outside.script = answering((input) =>
      input === 'three'
        ? [delegates('3a', '3b', '3c'), { text: 'all in' }]
        : [{ text: `answer to ${input}` }],
    );
    const runId = await world.start('three');
    await world.ended(runId);
    const events = await expectSound(world, runId, 'three');
    expect(ofType(events, 'ChildGranted').map(({ data }) => data.grantTokens)).toEqual([
      49_996, 49_996, 49_996,
    ]);
    expect(ofType(events, 'BudgetSnapshotTaken').map(({ data }) => data.tokens)).toEqual([
      200_000, 199_985, 199_940,
    ]);
    expect(await expectSoundTree(world, runId)).toBe(75);
  });

  it.each([
    ['ask_nobody', 'not_found', 'There is no agent'],
    ['ask_cheaply', 'token_budget', 'BudgetExceeded / token_budget'],
  ])('of %s that comes to nothing is an observation with its reason', async (tool, _code, text) => {
    const key = `nothing ${tool}`;
    world.outside.script = answering((input) =>
      input === key
        ? [calls([tool, JSON.stringify({ task: `${key} child` })]), { text: 'so be it' }]
        : [{ ...calls(['look', '{}']), usage: { input: 19_000, output: 990, cached: 0, estimated: false } }],
    );
    const runId = await world.start(key);
    expect(await world.ended(runId)).toMatchObject({ type: 'RunSucceeded' });
    const events = await world.events(runId);
    expect(ofType(events, 'ToolCallFailed')[0]?.data.observation).toEqual({
      text: expect.stringContaining(text),
    });
    await expectSoundTree(world, runId);
  });

  it('leaves rows that equal their replay, and nobody holds anything', async () => {
    await eventually(() => executor.executor.drivers.runIds().length === 0, { withinMs: 30_000 });
    await expectQuiet(world, [executor]);
  });
});

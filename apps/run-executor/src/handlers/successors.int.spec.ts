import type { Caller } from '@runyard/contracts';
import { userAggregate } from '@runyard/contracts';
import { RunQueries } from '../projections/run.queries';
import { dialogOf, expectPaired, expectQuiet, ofType } from './e2e/invariants';
import { calls, ok } from './e2e/script';
import type { Script } from './e2e/script';
import { TestExecutor } from './e2e/test-executor';
import { CALLER, OWNER, World } from './e2e/world';

jest.setTimeout(300_000);

/** Look, write, look again, answer; a fork may be told to do something else. */
const SCRIPT: Script = {
  model: (request) => {
    const turns = request.messages.filter((message) => message.role === 'assistant').length;
    if (turns === 0) return calls(['look', '{}']);
    if (turns === 1) return calls(['write', '{"n":1}']);
    if (turns === 2) return calls(['look', '{"again":true}']);
    return { text: `answer under "${request.system}"` };
  },
  tool: ({ tool, arguments: args }) => ok(`${tool.name} ${JSON.stringify(args)}`),
};
const REVIEWER = '0b5c2f6e-4d53-4b0e-9a53-7d1a4f0f9a03';
const reviewer: Caller = { ...CALLER, userId: REVIEWER, actor: `user:${REVIEWER}`, roles: ['reviewer'] };

let world: World;
let door: TestExecutor;
beforeAll(async () => {
  world = await World.create();
  door = await TestExecutor.start(world, SCRIPT);
  const person = { userId: REVIEWER, email: 'r@example.org', name: 'R', timeZone: null, roles: ['reviewer'] };
  await world.append('people', userAggregate(REVIEWER), [{ type: 'UserAdded', data: person }]);
});
afterAll(() => world[Symbol.asyncDispose]());

const successors = () => door.executor.successors;

async function finished(key: string, body: object = {}): Promise<string> {
  const runId = await world.start(key, body);
  await world.ended(runId);
  return runId;
}

/** Roles and tools of a dialog, short. */
const outline = async (runId: string): Promise<string[]> =>
  (await dialogOf(world, runId)).map((message) =>
    message.role === 'assistant'
      ? message.toolCalls.map((call) => call.tool).join() || 'answer'
      : message.role,
  );

describe('a fork', () => {
  it('takes recorded steps over, buys none of them again and repeats no write', async () => {
    const source = await finished('forked');
    const before = world.outside.modelCalls.length;
    const fork = await successors().fork(CALLER, source, { step: 1, prompt: 'Say more.' }, 'k');
    await world.ended(fork.run_id);
    expect(world.outside.modelCalls.length - before).toBe(3);
    expect(world.outside.toolsOf(fork.run_id).map(({ tool }) => tool.name)).toEqual(['look']);
    expect(await outline(fork.run_id)).toEqual(await outline(source));
    expectPaired(await dialogOf(world, fork.run_id));
    const [reused] = ofType(await world.events(fork.run_id), 'ToolCallSucceeded');
    expect(reused?.data).toMatchObject({
      observation: { text: 'write {"n":1}' },
      reusedFrom: { runId: source, callId: 'c2-0', decision: { decidedBy: 'mode:auto' } },
    });
    expect(await world.row(fork.run_id)).toMatchObject({
      trigger: 'fork',
      source_kind: 'fork',
      source_run_id: source,
      source_step: 1,
      steps: 3,
      model_calls: 3,
      output: expect.stringContaining('Say more.'),
    });
    // Said again, it is the same run.
    expect(await successors().fork(CALLER, source, { step: 1, prompt: 'Say more.' }, 'k')).toMatchObject({
      run_id: fork.run_id,
      created: false,
    });
  });

  it('writes again where it is asked to', async () => {
    const source = await finished('forked to write');
    const fork = await successors().fork(CALLER, source, { step: 1, repeat_writes: true });
    await world.ended(fork.run_id);
    expect(world.outside.toolsOf(fork.run_id).map(({ tool }) => tool.name)).toEqual(['write', 'look']);
  });

  it('begins with another input, other tools, and goes on after an answer only when told what comes next', async () => {
    const source = await finished('forked with input');
    const anew = await successors().fork(CALLER, source, {
      step: 0,
      input: 'Something else',
      tools: ['look'],
    });
    await world.ended(anew.run_id);
    const [first] = await dialogOf(world, anew.run_id);
    expect(first).toEqual({ role: 'user', text: 'Something else' });
    expect(world.outside.toolsOf(anew.run_id).map(({ tool }) => tool.name)).toEqual(['look', 'look']);
    await expect(successors().fork(CALLER, source, {})).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(successors().fork(CALLER, source, { step: 9 })).rejects.toMatchObject({
      code: 'invalid_request',
    });
    const further = await successors().fork(CALLER, source, { input: 'And now?' });
    await world.ended(further.run_id);
    expect((await outline(further.run_id)).slice(-3)).toEqual(['answer', 'user', 'answer']);
  });

  it('is found from its source, and its source from it', async () => {
    const source = await finished('found');
    const fork = await successors().fork(CALLER, source, { step: 2 });
    await world.ended(fork.run_id);
    await world.row(fork.run_id);
    const queries = new RunQueries(world.db);
    const { data } = await queries.list(CALLER, { source_run_id: source });
    expect(data).toEqual([
      expect.objectContaining({ run_id: fork.run_id, forked_from: source, forked_step: 2, continues: null }),
    ]);
  });
});

describe('a continuation', () => {
  it('goes on where a run had used up its steps, once however often it is asked for', async () => {
    const source = await finished('short', { bounds: { max_steps: 2 } });
    expect(await world.row(source)).toMatchObject({ termination: 'BudgetExceeded', reason: 'iteration_cap' });
    const extend = () => door.controls.extend(CALLER, { run_id: source, steps: 5 });
    const [first, second] = await Promise.all([extend(), extend()]);
    const id = first.continuation!.run_id;
    expect(second.continuation!.run_id).toBe(id);
    await world.ended(id);
    expect(await world.row(id)).toMatchObject({
      state: 'succeeded',
      trigger: 'continuation',
      source_kind: 'continuation',
      source_run_id: source,
      steps: 2,
    });
    expect(world.outside.toolsOf(id).map(({ tool }) => tool.name)).toEqual(['look']);
    await expect(door.controls.extend(CALLER, { run_id: source, steps: 6 })).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    });
  });

  it('makes the calls that a used-up bound had left open', async () => {
    const source = await finished('few calls', { bounds: { max_tool_calls: 1 } });
    expect(await world.row(source)).toMatchObject({ reason: 'tool_call_cap' });
    await expect(door.controls.extend(CALLER, { run_id: source, steps: 5 })).rejects.toMatchObject({
      code: 'invalid_request',
    });
    const { continuation } = await door.controls.extend(CALLER, { run_id: source, tool_calls: 5 });
    expect(continuation?.run_id).toBeDefined();
  });

  it('is refused for a run that came to its end', async () => {
    const source = await finished('whole');
    await expect(door.controls.extend(CALLER, { run_id: source, steps: 5 })).rejects.toMatchObject({
      code: 'run_not_controllable',
    });
  });

  it('goes on with the decision that was missing, keyed by the question', async () => {
    const source = await finished('undecided', { mode: 'ask' });
    expect(await world.row(source)).toMatchObject({ reason: 'confirmation_required' });
    const [asked] = ofType(await world.events(source), 'ApprovalRequested');
    const decision = {
      approval_id: asked!.data.approvalId,
      verdict: 'approve',
      arguments: { n: 7 },
    } as const;
    await expect(successors().decide(CALLER, source, decision)).rejects.toMatchObject({ code: 'forbidden' });
    const next = await successors().decide(reviewer, source, decision);
    expect(await successors().decide(reviewer, source, decision)).toMatchObject({ run_id: next.run_id });
    await world.ended(next.run_id);
    const events = await world.events(next.run_id);
    expect(world.outside.toolsOf(next.run_id).map(({ arguments: args }) => args)).toEqual([
      { n: 7 },
      { again: true },
    ]);
    expect(ofType(events, 'ToolCallStarted')[0]?.data).toMatchObject({
      callId: 'c0-0',
      step: 0,
      decision: { decidedBy: reviewer.actor },
      grant: { approvalId: asked!.data.approvalId },
    });
    expectPaired(await dialogOf(world, next.run_id));
    expect(await world.row(next.run_id)).toMatchObject({ state: 'succeeded', source_kind: 'continuation' });
  });
});

it('a retry begins again with the same input', async () => {
  const source = await finished('tried again');
  const again = await successors().retry(CALLER, source, 'k');
  expect((await successors().retry(CALLER, source, 'k')).run_id).toBe(again.run_id);
  await world.ended(again.run_id);
  expect(await world.row(again.run_id)).toMatchObject({
    input: 'tried again',
    source_kind: 'retry',
    source_run_id: source,
    owner_id: OWNER,
  });
  await expectQuiet(world, [door]);
});

import { eventually } from '@runyard/testing';
import { dialogOf, expectPaired, expectQuiet, expectSound, ofType } from './e2e/invariants';
import { calls, ok } from './e2e/script';
import type { Script } from './e2e/script';
import { GateTap } from './e2e/taps';
import { TestExecutor } from './e2e/test-executor';
import { CALLER, ORG, World } from './e2e/world';

jest.setTimeout(180_000);

let world: World;
let executor: TestExecutor;
beforeAll(async () => {
  world = await World.create();
  executor = await TestExecutor.start(world);
});
afterAll(() => world[Symbol.asyncDispose]());

const deferred = (): { promise: Promise<void>; resolve: () => void } => {
  let resolve = (): void => undefined;
  return { promise: new Promise<void>((done) => (resolve = done)), resolve };
};

const CHAT: Script = {
  model: (_request, step) =>
    step === 1 ? calls(['look', '{"q":1}'], ['look', '{"q":2}']) : { text: 'hello' },
  tool: (call) => ok(`saw ${String(call.arguments.q)}`),
};

const say = (key: string, talk: string) => ({ conversation_id: talk, input: key });

describe('a conversation', () => {
  beforeEach(() => (world.outside.script = CHAT));

  it('shows its second turn what was said and done in the first, with call ids that differ', async () => {
    await world.ended(await world.start('t1', say('t1', 'talk')));
    const second = await world.start('t2', say('t2', 'talk'));
    await world.ended(second);
    const [asked] = world.outside.calledFor('t2');
    expect(asked?.messages.map((message) => [message.role, 'text' in message ? message.text : null])).toEqual(
      [
        ['user', 't1'],
        ['assistant', null],
        ['tool', 'saw 1'],
        ['tool', 'saw 2'],
        ['assistant', 'hello'],
        ['user', 't2'],
      ],
    );
    const dialog = await dialogOf(world, second);
    expectPaired(dialog);
    const ids = dialog.flatMap((message) => (message.role === 'tool' ? [message.callId] : []));
    expect(new Set(ids).size).toBe(4);
    // Recorded tools answer by the place of a call in the whole dialog.
    expect(world.outside.toolsOf(second).map((call) => call.position)).toEqual([2, 3]);
    await expectSound(world, second, 't2');
  });

  it('is the same to a process that knows nothing of it', async () => {
    await world.ended(await world.start('m1', say('m1', 'memory')));
    const stranger = await TestExecutor.start(world, null, { works: false });
    await stranger.take(world.requestFor('m2', say('m2', 'memory')));
    await world.ended(world.runId('m2'));
    const [asked] = world.outside.calledFor('m2');
    expect(asked?.messages).toEqual([
      ...(await dialogOf(world, world.runId('m1'))),
      { role: 'user', text: 'm2' },
    ]);
    await stranger.stop();
  });

  it('C10 goes on after a turn that was cancelled between two results (aaif-goose/goose#2951)', async () => {
    const stuck = deferred();
    world.outside.script = {
      model: () => calls(['look', '{}'], ['write', '{}'], ['put', '{}']),
      tool: (call) =>
        call.tool.name === 'look'
          ? ok('first')
          : new Promise(
              (resolve) => (
                stuck.resolve(),
                call.signal.addEventListener('abort', () =>
                  resolve({
                    ok: false,
                    code: 'cancelled',
                    text: 'stopped',
                    effect: 'unknown',
                    transient: false,
                  }),
                )
              ),
            ),
    };
    const first = await world.start('c1', say('c1', 'cancelled'));
    await stuck.promise;
    await world.logged(first, 'ToolCallSucceeded');
    await executor.controls.cancel(CALLER, { run_id: first });
    await world.ended(first);
    world.outside.script = { model: () => ({ text: 'fine' }), tool: () => ok('ok') };
    await world.ended(await world.start('c2', say('c2', 'cancelled')));
    const [asked] = world.outside.calledFor('c2');
    expectPaired(asked?.messages ?? []);
    expect(asked?.messages.map((message) => message.role)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
      'tool',
      'user',
    ]);
    expect(asked?.messages[2]).toMatchObject({ text: 'first' });
    expect(asked?.messages[3]).toMatchObject({ text: expect.stringContaining('Interrupted') });
  });

  it('C10 resumes a run that was killed between two results: the one that is there is kept (aaif-goose/goose#2951)', async () => {
    const stuck = deferred();
    let lost = true;
    world.outside.script = {
      model: (_request, step) =>
        step === 1 ? calls(['look', '{"n":"A"}'], ['look', '{"n":"B"}']) : { text: 'done' },
      tool: async (call) => {
        if (call.arguments.n === 'B' && lost) {
          stuck.resolve();
          await new Promise(() => undefined);
        }
        return ok(String(call.arguments.n));
      },
    };
    const first = await TestExecutor.start(world, null, { works: false });
    await first.take(world.requestFor('killed'));
    const runId = world.runId('killed');
    await stuck.promise;
    await world.logged(runId, 'ToolCallSucceeded');
    lost = false;
    await first.die();
    await world.ended(runId);
    const events = await expectSound(world, runId, 'killed');
    expect(world.outside.toolsOf(runId).map((call) => call.arguments.n)).toEqual(['A', 'B', 'B']);
    expect(ofType(events, 'ToolCallSucceeded').map((event) => event.data.observation)).toEqual([
      { text: 'A' },
      { text: 'B' },
    ]);
  });

  it('is busy for a person and leaves a skipped run for a service', async () => {
    const go = deferred();
    world.outside.script = { model: () => go.promise.then(() => ({ text: 'done' })), tool: () => ok('ok') };
    const first = await world.start('b1', say('b1', 'busy'));
    expect(await world.request('b2', say('b2', 'busy'))).toMatchObject({
      ok: false,
      code: 'conversation_busy',
    });
    expect(await world.types(world.runId('b2'))).toEqual([]);
    const service = { ...say('b3', 'busy'), requested_by: 'service:crm', trigger: 'requested' as const };
    expect(await world.request('b3', service)).toMatchObject({
      ok: true,
      state: 'skipped',
      reason: 'already_running',
    });
    expect(await world.row(world.runId('b3'))).toMatchObject({
      state: 'skipped',
      reason: 'already_running',
      started_at: null,
    });
    go.resolve();
    await world.ended(first);
    // The same key is tried again, now that the conversation is free; a turn that was skipped is none of its turns.
    const again = await world.start('b2', say('b2', 'busy'));
    await world.ended(again);
    expect(world.outside.calledFor('b2')[0]?.messages.map((message) => message.role)).toEqual([
      'user',
      'assistant',
      'user',
    ]);
  });

  it('takes one of many turns that are said at once', async () => {
    const go = deferred();
    world.outside.script = { model: () => go.promise.then(() => ({ text: 'done' })), tool: () => ok('ok') };
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => world.request(`w${n}`, say(`w${n}`, 'crowd'))),
    );
    expect(answers.map((answer) => (answer.ok ? 'taken' : answer.code)).toSorted()).toEqual([
      ...Array.from({ length: 11 }, () => 'conversation_busy'),
      'taken',
    ]);
    go.resolve();
    const one = answers.find((answer) => answer.ok);
    await world.ended(one?.ok ? one.run_id : '');
  });

  it('follows a failed turn, a skipped turn and ten more without losing one', async () => {
    world.outside.script = {
      model: (_request, step) => (step < 2 ? calls(['look', '{}']) : { text: 'done' }),
      tool: () => ok('ok'),
    };
    for (let turn = 0; turn < 10; turn++) {
      if (turn === 4)
        world.outside.script.model = () => ({ failure: { code: 'provider_auth', retryable: false } });
      if (turn === 5)
        world.outside.script.model = (_request, step) =>
          step < 2 ? calls(['look', '{}']) : { text: 'done' };
      await world.ended(await world.start(`turn${turn}`, say(`turn${turn}`, 'long')));
    }
    const dialog = await dialogOf(world, world.runId('turn9'));
    expectPaired(dialog);
    expect(dialog.flatMap((message) => (message.role === 'user' ? [message.text] : []))).toEqual(
      Array.from({ length: 10 }, (_, n) => `turn${n}`),
    );
  });

  it('leaves rows that equal their replay', () => expectQuiet(world, [executor]));
});

describe('one active run per agent', () => {
  it('skips a turn without breaking the thread of its conversation, when another run was faster', async () => {
    await using single = await World.create({ details: { concurrency: 'agent' } });
    const go = deferred();
    single.outside.script = {
      model: (request) =>
        JSON.stringify(request.messages).includes('blocks')
          ? go.promise.then(() => ({ text: 'at last' }))
          : { text: 'done' },
      tool: () => ok('ok'),
    };
    const tap = new GateTap();
    const slow = await TestExecutor.start(single, null, { works: false, tap });
    const quick = await TestExecutor.start(single, null, { works: false });
    await slow.take(single.requestFor('s1', say('s1', 'thread')));
    await single.ended(single.runId('s1'));
    await eventually(() => slow.executor.drivers.runIds().length === 0);
    // The definition is stored already: the first change of rows is the claim, the second takes the conversation over.
    let changes = 0;
    const between = tap.hold((what) => what === 'rows' && ++changes === 2, 'after');
    const second = slow.take(single.requestFor('s2', say('s2', 'thread')));
    await between.reached;
    await quick.take(single.requestFor('blocks'));
    between.open();
    expect(await second).toMatchObject({ state: 'skipped', reason: 'already_running' });
    go.resolve();
    await single.ended(single.runId('blocks'));
    await quick.take(single.requestFor('s3', say('s3', 'thread')));
    await single.ended(single.runId('s3'));
    expect(
      single.outside.calledFor('s3')[0]?.messages.map((message) => ('text' in message ? message.text : '')),
    ).toEqual(['s1', 'done', 's3']);
    await Promise.all([slow.stop(), quick.stop()]);
  });

  it('runs one of twenty requests, records nineteen as skipped, and is free afterwards', async () => {
    await using single = await World.create({ details: { concurrency: 'agent' } });
    const go = deferred();
    const executors = await Promise.all([1, 2].map(() => TestExecutor.start(single)));
    single.outside.script = { model: () => go.promise.then(() => ({ text: 'done' })), tool: () => ok('ok') };
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => single.request(`one${n}`)));
    const states = answers
      .map((answer) => (answer.ok ? `${answer.state} ${answer.reason}` : answer.code))
      .toSorted();
    expect(states).toEqual(['running null', ...Array.from({ length: 19 }, () => 'skipped already_running')]);
    go.resolve();
    const winner = answers.find((answer) => answer.ok && answer.state === 'running');
    const runId = winner?.ok ? winner.run_id : '';
    await single.ended(runId);
    for (const answer of answers) await single.row(answer.ok ? answer.run_id : '');
    const rows = await single.rows('SELECT state, count(*)::int AS n FROM agent_runs GROUP BY 1 ORDER BY 1');
    expect(rows).toEqual([
      { state: 'skipped', n: 19 },
      { state: 'succeeded', n: 1 },
    ]);
    await eventually(async () => (await single.rows('SELECT FROM run_slots')).length === 0);
    const next = await single.start('next');
    expect(await single.ended(next)).toMatchObject({ type: 'RunSucceeded' });
    await expectQuiet(single, executors);
    await Promise.all(executors.map((one) => one.stop()));
  });

  it('frees the agent when its run ends by any way, also when the executor dies before it frees the slot', async () => {
    await using single = await World.create({ details: { concurrency: 'agent' } });
    single.outside.script = { model: () => ({ text: 'done' }), tool: () => ok('ok') };
    const first = await TestExecutor.start(single, null, { works: false });
    await first.take(single.requestFor('a'));
    await single.ended(single.runId('a'));
    await first.die();
    // As a crash between the terminal event and the release leaves it.
    await single.db.inOrg(ORG, (tx) =>
      tx.query(
        `INSERT INTO run_slots (slot_key, run_id, org_id, digest) VALUES ($1, $2, $3, '') ON CONFLICT DO NOTHING`,
        [`agent:${ORG}:agent`, single.runId('a'), ORG],
      ),
    );
    const second = await TestExecutor.start(single);
    expect(await single.ended(await single.start('b'))).toMatchObject({ type: 'RunSucceeded' });
    await expectQuiet(single, [second]);
    await second.stop();
  });

  it('lets delegated and eval runs pass by the slot', async () => {
    await using single = await World.create({ details: { concurrency: 'agent' } });
    const go = deferred();
    const own = await TestExecutor.start(single, {
      model: () => go.promise.then(() => ({ text: 'done' })),
      tool: () => ok('ok'),
    });
    const answers = [
      await single.request('m'),
      await single.request('e', { trigger: 'eval', requested_by: 'service:evals' }),
      await single.request('r', { trigger: 'requested', requested_by: 'service:crm' }),
    ];
    expect(answers.map((answer) => answer.ok && answer.state)).toEqual(['running', 'running', 'skipped']);
    go.resolve();
    for (const answer of answers.slice(0, 2)) await single.ended(answer.ok ? answer.run_id : '');
    await own.stop();
  });
});

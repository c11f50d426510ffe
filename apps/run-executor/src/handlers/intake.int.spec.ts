import { setTimeout as wait } from 'node:timers/promises';
import { Problem, requestSubject } from '@runyard/contracts';
import { deadLetters } from '@runyard/event-log';
import { eventually } from '@runyard/testing';
import { expectQuiet, expectSound } from './e2e/invariants';
import { ok } from './e2e/script';
import { CrashTap, GateTap } from './e2e/taps';
import { TestExecutor } from './e2e/test-executor';
import { ORG, TERMINAL, World } from './e2e/world';

jest.setTimeout(600_000);

let world: World;
beforeAll(async () => void (world = await World.create({ details: { concurrency: 'agent' } })));
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => (world.outside.script = { model: () => ({ text: 'done' }), tool: () => ok('ok') }));

const big = 'x'.repeat(40_000);

/** How often a run was born, and what it came to. */
async function lifeOf(runId: string): Promise<{ births: number; ends: string[] }> {
  const types = await world.types(runId);
  return {
    births: types.filter((type) => type === 'RunQueued' || type === 'RunSkipped').length,
    ends: types.filter((type) => TERMINAL.includes(type)),
  };
}

describe.each([
  ['claims at once', 64],
  ['queues', 0],
])('an intake that %s and is killed between any two steps (P2)', (_name, places) => {
  it('leaves one run, one answer and no slot, whoever gets the request next', async () => {
    const whole = new CrashTap(Infinity);
    const moments = await lifetime(`whole-${places}`, whole, places);
    console.log(
      `intake, ${places} places:\n${moments.filter((moment) => moment.startsWith('before')).join('\n')}`,
    );
    for (let at = 0; at <= moments.length; at++)
      await lifetime(`at${at}-${places}`, new CrashTap(at), places);
    await expectQuiet(world, []);
  });

  async function lifetime(key: string, tap: CrashTap, atPlaces: number): Promise<string[]> {
    const request = world.requestFor(key, { input: `${key}${big}`, conversation_id: `talk-${key}` });
    const first = await TestExecutor.start(world, null, { works: false, tap, config: { places: atPlaces } });
    await first.take(request).catch(() => undefined);
    const moments = [...tap.moments];
    if (!tap.crashed) await wait(20);
    await first.die();
    const survivor = await TestExecutor.start(world);
    await survivor.take(request);
    const runId = world.runId(key);
    await world.ended(runId);
    expect({ key, last: tap.last, ...(await lifeOf(runId)) }).toEqual({
      key,
      last: tap.last,
      births: 1,
      ends: ['RunSucceeded'],
    });
    await expectSound(world, runId, request.input);
    await eventually(
      async () => (await world.rows("SELECT FROM run_slots WHERE kind = 'agent'")).length === 0,
    );
    expect(
      await world.rows('SELECT run_id FROM run_slots WHERE slot_key = $1', [
        `conversation:${ORG}:talk-${key}`,
      ]),
    ).toEqual([{ run_id: runId }]);
    await survivor.stop();
    return moments;
  }
});

it('turns the same request, delivered to five consumers at once, into one run (C73)', async () => {
  const executors = await Promise.all(
    Array.from({ length: 5 }, () => TestExecutor.start(world, null, { works: false })),
  );
  for (let round = 0; round < 20; round++) {
    const request = world.requestFor(`five-${round}`);
    const answers = await Promise.all(executors.map((executor) => executor.take(request)));
    expect(new Set(answers.map((answer) => answer.ok && answer.run_id))).toEqual(
      new Set([world.runId(request.key)]),
    );
    expect(answers.filter((answer) => answer.ok && answer.created)).toHaveLength(1);
    await world.ended(world.runId(request.key));
    await eventually(
      async () => (await world.rows("SELECT FROM run_slots WHERE kind = 'agent'")).length === 0,
    );
    expect(await lifeOf(world.runId(request.key))).toEqual({ births: 1, ends: ['RunSucceeded'] });
    expect(world.outside.calledFor(request.key)).toHaveLength(1);
  }
  await Promise.all(executors.map((executor) => executor.stop()));
});

it('lets one of two bodies under the same key win and refuses the other', async () => {
  const executors = await Promise.all([1, 2].map(() => TestExecutor.start(world, null, { works: false })));
  for (let round = 0; round < 20; round++) {
    const requests = ['this', 'that'].map((input) => world.requestFor(`bodies-${round}`, { input }));
    const settled = await Promise.allSettled(
      requests.map((request, index) => executors[index]!.take(request)),
    );
    const runId = world.runId(`bodies-${round}`);
    const taken = settled.filter((one) => one.status === 'fulfilled');
    const refused = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason as Problem] : []));
    expect([taken.length, ...refused.map((problem) => problem.code)]).toEqual([1, 'idempotency_key_reused']);
    await world.ended(runId);
    expect(await lifeOf(runId)).toEqual({ births: 1, ends: ['RunSucceeded'] });
    const winner = requests[settled.findIndex((one) => one.status === 'fulfilled')]!;
    expect(await executors[0]!.take(winner)).toMatchObject({ ok: true, run_id: runId, created: false });
    await eventually(
      async () => (await world.rows("SELECT FROM run_slots WHERE kind = 'agent'")).length === 0,
    );
  }
  await Promise.all(executors.map((executor) => executor.stop()));
});

it('answers with the run when its rows were faster than a delayed duplicate', async () => {
  const tap = new GateTap();
  const slow = await TestExecutor.start(world, null, { works: false, tap });
  const quick = await TestExecutor.start(world, null, { works: false });
  const request = world.requestFor('delayed');
  const claiming = tap.hold((what) => what === 'rows', 'before');
  const second = slow.take(request);
  await claiming.reached;
  await quick.take(request);
  await world.ended(world.runId('delayed'));
  await world.row(world.runId('delayed'));
  claiming.open();
  expect(await second).toMatchObject({
    ok: true,
    run_id: world.runId('delayed'),
    state: 'succeeded',
    created: false,
  });
  await Promise.all([slow.stop(), quick.stop()]);
});

it('keeps a request in hand while the database is away, and neither refuses nor buries it', async () => {
  const tap = new GateTap();
  const executor = await TestExecutor.start(world, null, { tap });
  tap.failing = (what) =>
    what === 'rows' && new Problem('unavailable', 'The database is not available at the moment');
  const answer = world.request('away');
  await world.bus.queues.publish(requestSubject(ORG), world.requestFor('away-silent'));
  await wait(1_500);
  expect(await world.types(world.runId('away'))).toEqual([]);
  tap.failing = undefined;
  expect(await answer).toMatchObject({ ok: true, run_id: world.runId('away'), created: true });
  await world.ended(world.runId('away'));
  await eventually(async () => (await world.types(world.runId('away-silent'))).length > 0);
  expect(await deadLetters(world.connection).list()).toEqual([]);
  await executor.stop();
});

it('fences a request that was lost for good, so that it neither holds its slot nor comes to life later (P2.6)', async () => {
  const tap = new CrashTap((moment) => moment.startsWith('before append'));
  const first = await TestExecutor.start(world, null, { works: false, tap });
  await first.take(world.requestFor('lost')).catch(() => undefined);
  const runId = world.runId('lost');
  expect(await world.rows('SELECT run_id FROM run_slots WHERE run_id = $1', [runId])).toEqual([
    { run_id: runId },
  ]);
  const survivor = await TestExecutor.start(world, null, { works: false });
  await survivor.executor.intakeProcess.fence(ORG, runId);
  expect(await world.types(runId)).toEqual(['RunFailed']);
  expect(await world.rows('SELECT run_id FROM run_slots WHERE run_id = $1', [runId])).toEqual([]);
  expect(await survivor.take(world.requestFor('lost'))).toMatchObject({
    ok: true,
    state: 'failed',
    reason: 'stale',
    created: false,
  });
  await survivor.stop();
});

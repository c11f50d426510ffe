import { setTimeout as wait } from 'node:timers/promises';
import { Problem } from '@runyard/contracts';
import type { RunEvent } from '@runyard/contracts';
import { eventually } from '@runyard/testing';
import { inBranches } from './e2e/branches';
import { dialogOf, expectPaired, expectQuiet, expectSound, ofType } from './e2e/invariants';
import { calls, ok } from './e2e/script';
import type { Script } from './e2e/script';
import { GateTap, MomentTap } from './e2e/taps';
import { TestExecutor } from './e2e/test-executor';
import { CALLER, World } from './e2e/world';
import type { ControlAnswer } from './controls.controller';

jest.setTimeout(600_000);

let world: World;
let door: TestExecutor;
beforeAll(async () => {
  world = await World.create();
  door = await TestExecutor.start(world);
});
afterAll(() => world[Symbol.asyncDispose]());

const WALK: Script = {
  model: (_request, step) => {
    if (step === 1) return calls(['look', '{}'], ['put', '{}']);
    return step === 2 ? calls(['write', '{}']) : { text: 'done' };
  },
  tool: () => ok('ok'),
};

type Named = 'cancel' | 'pause' | 'resume' | 'extend' | 'setMode';
const INPUT: Record<Named, object> = {
  cancel: {},
  pause: {},
  resume: {},
  extend: { steps: 3 },
  setMode: { mode: 'plan' },
};

type Told = ControlAnswer | Problem;

/** Two people say the same at once; a third one says it again afterwards. */
async function tell(control: Named, runId: string): Promise<Told[]> {
  const say = (): Promise<Told> =>
    door.controls[control](CALLER, { run_id: runId, ...INPUT[control] }).catch((error: unknown) => {
      if (error instanceof Problem) return error;
      throw error;
    });
  const told = await Promise.all([say(), say()]);
  return [...told, await say()];
}

/** A run whose executor waits at a moment until the control was said. */
async function walk(key: string, control: Named | null, at: number) {
  const runId = world.runId(key);
  let told: Told[] = [];
  let saidAt = Infinity;
  const act = async (): Promise<void> => {
    if (!control) return;
    told = await tell(control, runId);
    saidAt = performance.now();
    // The wake-up is on its way on another connection.
    await wait(2);
  };
  const tap = new MomentTap(at, act);
  const executor = await TestExecutor.start(world, null, { works: false, tap });
  await executor.take(world.requestFor(key));
  return { runId, executor, tap, told: () => told, saidAt: () => saidAt };
}

const accepted = (told: Told[]): boolean => told.some((one) => !(one instanceof Problem));

/** Moments of a run, from its birth to its end. */
async function moments(): Promise<number[]> {
  const { runId, tap, executor } = await walk(`whole-${Math.random()}`, null, -1);
  await world.ended(runId);
  await executor.stop();
  const born = tap.moments.findIndex((moment) => moment.startsWith('after append'));
  return [...tap.moments.keys()].filter((index) => index >= born);
}

describe('a control at every moment of a run', () => {
  beforeAll(() => (world.outside.script = WALK));

  it('cancels for good: nothing starts after the event, and no second one is recorded', async () => {
    await inBranches(await moments(), 8, async (at) => {
      const key = `cancel-${at}`;
      const { runId, executor, told, saidAt, tap } = await walk(key, 'cancel', at);
      await world.ended(runId);
      await executor.stop();
      const events = await expectSound(world, runId, key);
      const where = `${at}: ${tap.moments[at]}`;
      const last = events.at(-1)?.type;
      expect({ where, last }).toEqual({ where, last: accepted(told()) ? 'RunCancelled' : 'RunSucceeded' });
      expect(ofType(events, 'RunCancelRequested').length).toBeLessThanOrEqual(1);
      const after = events
        .slice(events.findIndex((event) => event.type === 'RunCancelRequested'))
        .map((event) => event.type);
      if (accepted(told()))
        for (const type of ['ToolCallStarted', 'ModelCallStarted'])
          expect({ where, after }).not.toMatchObject({ after: expect.arrayContaining([type]) });
      // A call whose sending was under way already is the one that may still go out.
      const late = world.outside.toolCalls
        .filter((call) => call.runId === runId && call.at > saidAt())
        .map((call) => call.tool.name);
      expect({ where, late }).toEqual({
        where,
        late: late.filter((name) => tap.moments[at] === `before tool ${name}`),
      });
    });
  });

  it('pauses without memory and goes on in another process', async () => {
    await inBranches(await moments(), 8, async (at) => {
      const key = `pause-${at}`;
      const { runId, executor, told, tap } = await walk(key, 'pause', at);
      const where = `${at}: ${tap.moments[at]}`;
      const parkedOrEnded = await eventually(
        async () =>
          (await world.types(runId)).find((type) => type === 'RunPaused' || type === 'RunSucceeded'),
        { withinMs: 30_000 },
      );
      if (parkedOrEnded === 'RunPaused') {
        await eventually(() => executor.executor.drivers.runIds().length === 0);
        expect({ where, told: told().map((one) => one instanceof Problem) }).toEqual({
          where,
          told: [false, false, false],
        });
        await tell('resume', runId);
      }
      await world.ended(runId);
      await executor.stop();
      const events = await expectSound(world, runId, key);
      expect({ where, last: events.at(-1)?.type }).toEqual({ where, last: 'RunSucceeded' });
      expect(ofType(events, 'RunPauseRequested').length).toBeLessThanOrEqual(1);
      expect(ofType(events, 'RunPaused').length).toBe(ofType(events, 'RunResumed').length);
    });
  });

  it('leaves a run that is not paused alone when it is resumed', async () => {
    await inBranches(await moments(), 8, async (at) => {
      const { runId, executor } = await walk(`resume-${at}`, 'resume', at);
      await world.ended(runId);
      await executor.stop();
      expect(await world.types(runId)).not.toContain('RunResumed');
    });
  });

  it('extends by what each asked for, and sets a mode once', async () => {
    await inBranches(await moments(), 8, async (at) => {
      for (const control of ['extend', 'setMode'] as const) {
        const key = `${control}-${at}`;
        const { runId, executor, told } = await walk(key, control, at);
        await world.ended(runId);
        await executor.stop();
        const events = await expectSound(world, runId, key);
        const recorded =
          control === 'extend' ? ofType(events, 'RunExtended').length : ofType(events, 'RunModeSet').length;
        expect({ key, recorded }).toEqual({
          key,
          recorded: accepted(told())
            ? control === 'extend'
              ? told().filter((one) => !(one instanceof Problem)).length
              : 1
            : 0,
        });
        expect(events.at(-1)?.type).toBe('RunSucceeded');
        if (control === 'setMode') expectDeniedAfter(events);
      }
    });
  });

  it('leaves rows that equal their replay', () => expectQuiet(world, [door]));
});

/** In mode `plan` no writing call of a later turn is dispatched. */
function expectDeniedAfter(events: readonly RunEvent[]): void {
  const set = events.findIndex((event) => event.type === 'RunModeSet');
  if (set < 0) return;
  const started = ofType(events.slice(set), 'ToolCallStarted').filter(
    (event) => event.data.effect === 'write',
  );
  expect(started).toEqual([]);
}

const deferred = (): { promise: Promise<void>; resolve: () => void } => {
  let resolve = (): void => undefined;
  return { promise: new Promise<void>((done) => (resolve = done)), resolve };
};

describe('a cancel', () => {
  it('C14 aborts a model call in flight at once, and no tool starts afterwards (Kilo-Org/kilocode#11758)', async () => {
    const took: number[] = [];
    for (let round = 0; round < 5; round++) {
      const key = `abort-${round}`;
      const asked = deferred();
      world.outside.script = {
        model: async () => (
          asked.resolve(),
          await wait(20_000, null, { ref: false }),
          calls(['write', '{}'])
        ),
        tool: () => ok('never'),
      };
      const runId = await world.start(key);
      await asked.promise;
      const startedAt = performance.now();
      const answer = await door.controls.cancel(CALLER, { run_id: runId });
      // The answer comes only after the event is stored.
      expect(await world.types(runId)).toContain('RunCancelRequested');
      expect(answer).toMatchObject({ cancel_requested: true });
      await eventually(() => world.outside.open === 0, { everyMs: 2 });
      took.push(Math.round(performance.now() - startedAt));
      await world.ended(runId);
      const events = await expectSound(world, runId, key);
      expect(
        ofType(events, 'ModelCallFailed').map((event) => [event.data.error.code, event.data.usage.estimated]),
      ).toEqual([['cancelled', true]]);
      expect(world.outside.toolsOf(runId)).toEqual([]);
    }
    const median = took.toSorted((a, b) => a - b)[2] ?? Infinity;
    console.log(`cancel to aborted model call: ${took.join(', ')} ms (wanted: 200 ms)`);
    // Far below what the model would have taken.
    expect(median).toBeLessThan(10_000);
  });

  it('aborts a tool in flight and keeps what it did', async () => {
    const running = deferred();
    world.outside.script = {
      model: () => calls(['look', '{}'], ['put', '{}']),
      tool: (call) =>
        new Promise((resolve) => {
          running.resolve();
          call.signal.addEventListener('abort', () =>
            resolve(
              call.tool.name === 'look'
                ? { ok: false, code: 'cancelled', text: 'stopped', effect: 'none', transient: false }
                : ok('just done'),
            ),
          );
        }),
    };
    const runId = await world.start('abort-tools');
    await running.promise;
    await door.controls.cancel(CALLER, { run_id: runId });
    await world.ended(runId);
    const events = await expectSound(world, runId, 'abort-tools');
    expect(
      events
        .slice(-3)
        .map((event) => event.type)
        .toSorted(),
    ).toEqual(['RunCancelled', 'ToolCallCancelled', 'ToolCallSucceeded']);
  });

  it('that is not obeyed for 10 s is closed by the sweep, with the open call ambiguous', async () => {
    const running = deferred();
    world.outside.script = {
      model: () => calls(['write', '{}'], ['look', '{}']),
      tool: () => (running.resolve(), new Promise(() => undefined)),
    };
    const runId = await world.start('deaf');
    await running.promise;
    await door.controls.cancel(CALLER, { run_id: runId });
    const startedAt = performance.now();
    await world.ended(runId, 40_000);
    expect(performance.now() - startedAt).toBeGreaterThan(8_000);
    const events = await world.events(runId);
    expect(events.slice(-3).map((event) => event.type)).toEqual([
      'ToolCallAmbiguous',
      'ToolCallAmbiguous',
      'RunCancelled',
    ]);
    expectPaired(await dialogOf(world, runId));
    await eventually(() => door.executor.drivers.runIds().length === 0);
  });

  it.each([['queued'], ['paused']])('ends a %s run by itself', async (state) => {
    const tap = new GateTap();
    const full = await TestExecutor.start(world, null, { works: false, tap, config: { places: 0 } });
    const unheard = tap.hold((what) => what === 'publish', 'before');
    const taken = full.take(world.requestFor(`ends-${state}`));
    await unheard.reached;
    const runId = world.runId(`ends-${state}`);
    if (state === 'paused')
      expect(await door.controls.pause(CALLER, { run_id: runId })).toMatchObject({ state });
    expect(await door.controls.cancel(CALLER, { run_id: runId })).toMatchObject({
      state: 'cancelled',
      cancel_requested: false,
    });
    expect(await door.controls.cancel(CALLER, { run_id: runId })).toMatchObject({ state: 'cancelled' });
    await expect(door.controls.resume(CALLER, { run_id: runId })).rejects.toMatchObject({
      code: 'run_not_controllable',
    });
    unheard.open();
    await taken;
    await expectSound(world, runId, `ends-${state}`);
    expect(world.outside.calledFor(`ends-${state}`)).toEqual([]);
    await full.stop();
  });
});

describe('a pause', () => {
  it('lets a running tool finish, aborts a model call, and holds no memory while it lasts', async () => {
    const [running, finish] = [deferred(), deferred()];
    world.outside.script = {
      model: (_request, step) => (step === 1 ? calls(['write', '{}']) : { text: 'done' }),
      tool: async () => (running.resolve(), await finish.promise, ok('written')),
    };
    const runId = await world.start('pause-tool');
    await running.promise;
    expect(await door.controls.pause(CALLER, { run_id: runId })).toMatchObject({
      state: 'running',
      pause_requested: true,
    });
    await wait(100);
    expect(await world.types(runId)).not.toContain('RunPaused');
    finish.resolve();
    await world.logged(runId, 'RunPaused');
    await eventually(() => !door.executor.drivers.has(runId));
    expect((await world.events(runId)).slice(-2).map((event) => event.type)).toEqual([
      'ToolCallSucceeded',
      'RunPaused',
    ]);
    expect(await world.row(runId)).toMatchObject({ state: 'paused' });
    const other = await TestExecutor.start(world);
    await door.stop();
    expect(await other.controls.resume(CALLER, { run_id: runId })).toMatchObject({ state: 'running' });
    await world.ended(runId);
    await expectSound(world, runId, 'pause-tool');
    const recovered = ofType(await world.events(runId), 'RunRecovered');
    expect(recovered.map((event) => [event.data.evidence, event.data.instance])).toEqual([
      ['woken', other.executor.instance],
    ]);
    door = other;
  });

  it('that nobody ends in time ends the run (Deadline / pause_expired)', async () => {
    const running = deferred();
    const short = await TestExecutor.start(world, null, { works: false, config: { pauseTtlMs: 300 } });
    world.outside.script = {
      model: () => calls(['look', '{}']),
      tool: async () => (running.resolve(), await wait(50), ok('ok')),
    };
    await short.take(world.requestFor('expires'));
    const runId = world.runId('expires');
    await running.promise;
    await short.controls.pause(CALLER, { run_id: runId });
    await world.logged(runId, 'RunPaused');
    expect(await world.ended(runId)).toMatchObject({
      type: 'RunFailed',
      data: { termination: 'Deadline', reason: 'pause_expired' },
    });
    await expectSound(world, runId, 'expires');
    await short.stop();
  });

  it('can be taken back before it was obeyed', async () => {
    const [running, finish] = [deferred(), deferred()];
    world.outside.script = {
      model: (_request, step) => (step === 1 ? calls(['look', '{}']) : { text: 'done' }),
      tool: async () => (running.resolve(), await finish.promise, ok('ok')),
    };
    const runId = await world.start('taken-back');
    await running.promise;
    await door.controls.pause(CALLER, { run_id: runId });
    await door.controls.resume(CALLER, { run_id: runId });
    finish.resolve();
    expect(await world.ended(runId)).toMatchObject({ type: 'RunSucceeded' });
    expect(await world.types(runId)).not.toContain('RunPaused');
  });
});

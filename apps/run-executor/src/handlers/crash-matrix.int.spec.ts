import type { RunEvent } from '@runyard/contracts';
import { eventually } from '@runyard/testing';
import { inBranches } from './e2e/branches';
import { expectQuiet, expectSound, dialogOf, ofType } from './e2e/invariants';
import { calls, failure, ok } from './e2e/script';
import type { Script } from './e2e/script';
import { CrashTap } from './e2e/taps';
import { TestExecutor } from './e2e/test-executor';
import { CALLER, ORG, TERMINAL, World } from './e2e/world';

jest.setTimeout(900_000);

/**
 * The crash matrix (architecture, section 8). One run that has everything (a conversation's second turn, parallel calls, a
 * retried one, an idempotent and another write, a model attempt that fails, a pause) is started again and again; its
 * executor is killed right before and right after each of its commits, effects, row changes and queue messages.
 */

const BRANCHES = 12;
const BEFORE = 'before ';

let world: World;
let survivor: TestExecutor;

/** Counts that outlive executors: what a script has seen of a run so far. */
const failedOnce = new Set<string>();
const firstTime = (key: string): boolean => !failedOnce.has(key) && failedOnce.add(key) !== undefined;

const SCRIPT: Script = {
  model: (request, step) => {
    const said = request.messages.findLast((message) => message.role === 'user');
    const input = said?.role === 'user' ? said.text : '';
    if (input.startsWith(BEFORE)) return step === 1 ? calls(['look', '{}']) : { text: 'hello' };
    if (step === 1) return calls(['look', '{}'], ['put', '{"n":1}']);
    if (step === 2)
      return firstTime(`${input} model`)
        ? { failure: { code: 'rate_limited', status: 429 } }
        : calls(['write', '{"n":2}']);
    if (step === 3) return calls(['look', '{"pause":true}']);
    return { text: 'done' };
  },
  tool: async (call) => {
    if (call.tool.name === 'put' && firstTime(call.idempotencyKey)) return failure({ effect: 'none' });
    if (call.arguments.pause && firstTime(`${call.runId} pause`))
      await survivor.controls.pause(CALLER, { run_id: call.runId }).catch(() => undefined);
    return ok('seen');
  },
};

beforeAll(async () => {
  world = await World.create();
  survivor = await TestExecutor.start(world, SCRIPT);
});
afterAll(() => world[Symbol.asyncDispose]());

/** Wakes a paused run and tells its executor, if that still lives; otherwise it is the survivor's to find. */
async function resume(runId: string, executor: TestExecutor): Promise<void> {
  const pausedOrEnded = async () =>
    (await world.types(runId)).find((type) => type === 'RunPaused' || TERMINAL.includes(type));
  const seen = await eventually(pausedOrEnded, { withinMs: 120_000, everyMs: 50 });
  if (seen !== 'RunPaused') return;
  await world.append('runs', runId, [{ type: 'RunResumed', data: {} }]);
  await executor.hear(runId).catch(() => undefined);
}

/** One run in a conversation of its own, driven by an executor that `tap` kills; the survivor does the rest. */
async function play(key: string, tap: CrashTap, heirAt?: number): Promise<RunEvent[]> {
  const conversation = { conversation_id: `talk-${key}` };
  const earlier = world.requestFor(`${BEFORE}${key}`, conversation);
  await survivor.take(earlier);
  await world.ended(world.runId(earlier.key), 60_000);
  const executor = await TestExecutor.start(world, null, { works: false, tap });
  const request = world.requestFor(key, conversation);
  const runId = world.runId(key);
  const resumed = resume(runId, executor);
  // A request that was not acknowledged is delivered again.
  await executor.take(request).catch(() => survivor.take(request));
  if (heirAt !== undefined) await inherit(runId, heirAt);
  await resumed;
  await world.ended(runId, 120_000);
  if (!tap.crashed) await executor.stop();
  const events = await expectSound(world, runId, key);
  const dialog = await dialogOf(world, runId);
  expect(dialog.slice(0, 4).map((message) => message.role)).toEqual([
    'user',
    'assistant',
    'tool',
    'assistant',
  ]);
  return events;
}

/** The dialog without what names its run. */
async function spoken(key: string): Promise<unknown> {
  const dialog = await dialogOf(world, world.runId(key));
  return JSON.parse(
    JSON.stringify(dialog)
      .replaceAll(key, 'key')
      .replaceAll(/[0-9a-z]{8}-(c\d+-\d+)/g, '$1'),
  );
}

/** A second executor that takes the run over from the first and is killed as well. */
async function inherit(runId: string, at: number): Promise<void> {
  const heir = await TestExecutor.start(world, null, { works: false, tap: new CrashTap(at) });
  await heir.executor.drivers.takeOver(ORG, runId, 'no_responders').catch(() => undefined);
}

/** A lost non-idempotent write ends the run, since nobody knows whether it happened; everything else ends well. */
function expectRightEnd(events: readonly RunEvent[], where: string): void {
  const end = events.at(-1);
  const failed = end?.type === 'RunFailed' ? `${end.data.reason} ${end.data.error.text}` : undefined;
  const unknown = ofType(events, 'ToolCallAmbiguous').some((event) => event.data.tool === 'write');
  const expected = unknown
    ? { type: 'RunFailed', failed: expect.stringContaining('unknown_effect') }
    : { type: 'RunSucceeded' };
  expect({ where, failed, type: end?.type }).toEqual({ where, failed: undefined, ...expected });
}

it('C09 survives the death of its executor before and after every commit, effect, row change and message (langchain-ai/langgraph#8039)', async () => {
  const whole = new CrashTap(Infinity);
  const undisturbed = await play('whole', whole);
  const dialog = await spoken('whole');
  expectRightEnd(undisturbed, 'nowhere');
  expect(ofType(undisturbed, 'RunRecovered').map((event) => event.data.evidence)).toEqual(['woken']);
  const commits = whole.moments.filter((moment) => moment.startsWith('before append'));
  console.log(
    `crash matrix: ${whole.moments.length} moments, ${commits.length} commits\n${whole.moments.filter((m) => m.startsWith('before')).join('\n')}`,
  );
  let recovered = 0;
  await inBranches([...whole.moments.keys()], BRANCHES, async (at) => {
    const tap = new CrashTap(at);
    const events = await play(`at${at}`, tap);
    expectRightEnd(events, `${at}: ${tap.last}`);
    if (events.at(-1)?.type === 'RunSucceeded') expect(await spoken(`at${at}`)).toEqual(dialog);
    if (ofType(events, 'RunRecovered').some((event) => event.data.evidence === 'no_responders')) recovered++;
  });
  expect(recovered).toBeGreaterThan(whole.moments.length / 2);
  await expectQuiet(world, [survivor]);
});

it('survives the death of its heir as well', async () => {
  const pairs = Array.from({ length: 36 }, (_, index) => ({
    first: 6 + ((index * 7) % 40),
    then: (index * 5) % 14,
  }));
  await inBranches(pairs, BRANCHES, async ({ first, then }) => {
    const tap = new CrashTap(first);
    const events = await play(`twice${first}-${then}`, tap, then);
    expectRightEnd(events, `${first} (${tap.last}), then ${then}`);
  });
  await expectQuiet(world, [survivor]);
});

import { setTimeout as wait } from 'node:timers/promises';
import { Problem } from '@runyard/contracts';
import { restoreText } from '@runyard/persistence';
import { PARALLEL_CALLS } from '../domain/effects';
import { expectQuiet, expectSound, ofType } from './e2e/invariants';
import { calls, failure, ok } from './e2e/script';
import type { Answer, Script } from './e2e/script';
import { GateTap } from './e2e/taps';
import { TestExecutor } from './e2e/test-executor';
import { World } from './e2e/world';

jest.setTimeout(180_000);

let world: World;
let executor: TestExecutor;
beforeAll(async () => {
  // The worst case of a call is proven in bytes, so large dialogs need large grants.
  world = await World.create({ behaviour: { bounds: { tokenBudget: 1_000_000_000, maxToolCalls: 10_000 } } });
  executor = await TestExecutor.start(world);
});
afterAll(() => world[Symbol.asyncDispose]());

const ODD = 'a\0b\ud800c\udfffd\ufdd0 \u2028 ok';

async function run(key: string, script: Script, input = key) {
  world.outside.script = script;
  const runId = await world.start(key, { input });
  const end = await world.ended(runId);
  const events = await expectSound(world, runId, input);
  return { runId, end, events, row: await world.row(runId) };
}

it('stores a result of megabytes whole by reference and shows it shortened, with a note that says so', async () => {
  const whole = `${'0123456789'.repeat(150_000)} the end`;
  const { events, runId } = await run('mega', {
    model: (_request, step) => (step === 1 ? calls(['look', '{}']) : { text: 'done' }),
    tool: () => ok(whole),
  });
  const [result] = ofType(events, 'ToolCallSucceeded');
  expect(result?.data.observation).toMatchObject({
    bytes: whole.length,
    preview: expect.stringContaining('bytes are left out here'),
  });
  const shown = world.outside.calledFor('mega')[1]?.messages.at(-1);
  expect(shown?.role === 'tool' && shown.text.length).toBeLessThan(17 * 1024);
  const digest = result && 'digest' in result.data.observation ? result.data.observation.digest : '';
  const [blob] = await world.rows('SELECT body FROM archive.blobs WHERE digest = $1', [digest]);
  expect(blob?.body).toBe(whole);
  const [step] = await world.rows(
    `SELECT content FROM agent_steps WHERE run_id = $1 AND kind = 'tool_call'`,
    [runId],
  );
  expect(String(step?.content)).toContain('0123456789');
});

it('carries megabytes of input, answer and arguments from process to process', async () => {
  const large = 'é"\n'.repeat(100_000);
  const { row, end } = await run(
    'large',
    {
      model: (_request, step) =>
        step === 1 ? { ...calls(['look', JSON.stringify({ large })]), text: large } : { text: `${large}!` },
      tool: (call) => ok(String(call.arguments.large).length.toString()),
    },
    `large ${large}`,
  );
  expect(end).toMatchObject({ type: 'RunSucceeded', data: { output: { bytes: 4 * 100_000 + 1 } } });
  const [, second] = world.outside.calledFor(`large ${large}`);
  expect(second?.messages.map((message) => ('text' in message ? message.text : null))).toEqual([
    `large ${large}`,
    large,
    String(large.length),
  ]);
  expect(String(row.output).length).toBeGreaterThan(0);
});

it('keeps NUL bytes and lone surrogates of inputs, answers, arguments, results and errors, and breaks on none', async () => {
  const { events, runId, row } = await run(
    'odd',
    {
      model: (_request, step): Answer => {
        if (step === 1)
          return {
            ...calls(['look', JSON.stringify({ odd: ODD })], ['look', `{"odd": "${ODD}`]),
            text: ODD,
            reasoning: ODD,
            providerReason: ODD,
            model: ODD,
          };
        if (step === 2 && world.outside.calledFor(`odd ${ODD}`).length < 3)
          return { failure: { text: ODD, partialText: ODD } };
        return step === 2 ? calls(['put', '{}']) : { text: ODD };
      },
      tool: (call) =>
        call.tool.name === 'put'
          ? failure({ text: ODD, transient: false })
          : ok(`got ${String(call.arguments.odd)}`),
    },
    `odd ${ODD}`,
  );
  const [queued] = ofType(events, 'RunQueued');
  expect(queued?.data.input).toEqual({ text: `odd ${ODD}` });
  expect(ofType(events, 'ToolCallSucceeded')[0]?.data.observation).toEqual({ text: `got ${ODD}` });
  expect(restoreText(String(row.output))).toBe(ODD);
  const steps = await world.rows(
    'SELECT kind, arguments, content FROM agent_steps WHERE run_id = $1 ORDER BY seq',
    [runId],
  );
  expect(JSON.stringify(steps)).toContain('got a');
  expect(JSON.stringify(row.entries)).toContain('got a');
});

it.each([
  ['NUL bytes', '\0'],
  ['quotes', '"'],
  ['control characters', '\u0001'],
])('fits %s into a commit, which cost six bytes each there', async (_name, unit) => {
  const text = unit.repeat(16_000);
  const { end } = await run(`escaped ${unit.codePointAt(0)}`, {
    model: (_request, step) =>
      step === 1
        ? {
            ...calls(['look', JSON.stringify({ text })], ['look', JSON.stringify({ text })]),
            text,
            reasoning: text,
            providerState: JSON.stringify(text),
          }
        : { text },
    tool: () => ok(text),
  });
  expect(end.type).toBe('RunSucceeded');
});

it('records forty large results that come at once in as many commits as they need', async () => {
  const { end, events } = await run('forty', {
    model: (_request, step) =>
      step === 1
        ? calls(...Array.from({ length: 40 }, (_, n): [string, string] => ['look', `{"n":${n}}`]))
        : { text: 'done' },
    tool: (call) => ok(`${String(call.arguments.n)} ${'y'.repeat(30_000)}`),
  });
  expect(end.type).toBe('RunSucceeded');
  expect(ofType(events, 'ToolCallStarted')).toHaveLength(40);
});

it('runs hundreds of parallel calls, each once and not all at the same time', async () => {
  let open = 0;
  let most = 0;
  world.outside.script = {
    model: (_request, step) =>
      step === 1
        ? calls(...Array.from({ length: 256 }, (_, n): [string, string] => ['write', `{"n":${n}}`]))
        : { text: 'done' },
    tool: async (call) => {
      most = Math.max(most, ++open);
      await wait(5);
      open--;
      return ok(String(call.arguments.n));
    },
  };
  const runId = await world.start('hundreds');
  expect(await world.ended(runId, 60_000)).toMatchObject({ type: 'RunSucceeded' });
  await expectSound(world, runId, 'hundreds');
  expect(world.outside.toolsOf(runId)).toHaveLength(256);
  expect(most).toBe(PARALLEL_CALLS);
});

it('takes no turn that asks for more calls than a commit can settle, and no names without end', async () => {
  const { end } = await run('endless', {
    model: () => calls(...Array.from({ length: 257 }, (): [string, string] => ['look', '{}'])),
    tool: () => ok('never'),
  });
  expect(end).toMatchObject({
    type: 'RunFailed',
    data: { reason: 'provider_invalid', error: { text: expect.stringContaining('257 calls') } },
  });
  const long = 'n'.repeat(300_000);
  const named = await run('named', {
    model: (_request, step) =>
      step === 1 ? { ...calls([long, '{}']), providerReason: long, model: long } : { text: 'done' },
    tool: () => ok('never'),
  });
  expect(named.end.type).toBe('RunSucceeded');
  const failed = await run('failing', {
    model: (_request, step) =>
      world.outside.calledFor('failing').length < 2 ? { failure: { text: long } } : { text: `done ${step}` },
    tool: () => ok('never'),
  });
  expect(failed.end.type).toBe('RunSucceeded');
});

it('waits for a database that is away with what a tool has done and a model has said, instead of losing it (P1.4)', async () => {
  const tap = new GateTap();
  const own = await TestExecutor.start(world, null, { works: false, tap });
  const outage = async <T>(result: T): Promise<T> => {
    tap.failing = (what) =>
      what === 'rows' && new Problem('unavailable', 'The database is not available at the moment');
    setTimeout(() => (tap.failing = undefined), 1_200);
    return result;
  };
  world.outside.script = {
    model: (_request, step) =>
      step === 1 ? outage({ ...calls(['write', '{}']), text: 'z'.repeat(50_000) }) : { text: 'done' },
    tool: () => outage(ok('w'.repeat(50_000))),
  };
  await own.take(world.requestFor('outage'));
  const runId = world.runId('outage');
  expect(await world.ended(runId)).toMatchObject({ type: 'RunSucceeded' });
  const events = await expectSound(world, runId, 'outage');
  expect(events.map((event) => event.type)).not.toContain('RunRecovered');
  await own.stop();
});

it('leaves rows that equal their replay', () => expectQuiet(world, [executor]));

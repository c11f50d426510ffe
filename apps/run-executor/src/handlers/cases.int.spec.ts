import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { CatalogueTool } from '@runyard/contracts';
import { workSubject } from '@runyard/contracts';
import { faultyProxy } from '@runyard/testing';
import { KEY, sse, startProvider } from '../models/fake-provider';
import type { FakeAnswer, FakeProvider } from '../models/fake-provider';
import { createModelAdapter } from '../models/model.adapter';
import { strictOpenAi } from '../models/strict-validators';
import { createToolRunner } from '../tools/tool-runner';
import { inBranches } from './e2e/branches';
import { expectPaired, dialogOf, expectQuiet, expectSound, ofType } from './e2e/invariants';
import { calls, ok } from './e2e/script';
import { TestExecutor } from './e2e/test-executor';
import { ORG, World } from './e2e/world';

jest.setTimeout(300_000);

/** Cases at the layer of the loop: real servers, a real provider protocol, scripted tools. Each is named by its id. */

const adapter = createModelAdapter({
  secrets: () => KEY,
  recordings: () => Promise.reject(new Error('none')),
});

interface Reply {
  text?: string;
  calls?: { id?: string | null; name: string; args?: string | null }[];
  finish?: string;
}

/** One chunk with everything, as terse providers send it. */
function wire({ text, calls: asked = [], finish = 'stop' }: Reply): FakeAnswer {
  const tool_calls = asked.map(({ id = 'call_1', name, args }, index) => ({
    index,
    id,
    type: 'function',
    function: { name, ...(args === null ? {} : { arguments: args }) },
  }));
  const delta = {
    ...(text === undefined ? {} : { content: text }),
    ...(asked.length > 0 ? { tool_calls } : {}),
  };
  const usage = { choices: [], usage: { prompt_tokens: 30, completion_tokens: 7 } };
  return { body: [sse({ choices: [{ index: 0, delta, finish_reason: finish }] }, usage, '[DONE]')] };
}

const textPart = (content: string) => ({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });

let provider: FakeProvider;
let answers: (number: number) => FakeAnswer;
let world: World;
let executor: TestExecutor;
let asked = 0;
const refusals: string[] = [];

beforeAll(async () => {
  provider = await startProvider(({ body }) => {
    const fault = strictOpenAi(body);
    if (fault) refusals.push(fault);
    return fault
      ? { status: 400, headers: {}, body: [JSON.stringify({ error: { message: fault } })] }
      : answers(++asked);
  });
  world = await World.create({
    model: { provider: { kind: 'openai-compatible', baseUrl: `${provider.url}/v1`, credential: 'OPENAI' } },
  });
  executor = await TestExecutor.start(world, null, { models: () => adapter });
  world.outside.script.tool = (call) => ok(`result ${JSON.stringify(call.arguments)}`);
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

/** A run whose provider answers by number, from 1 on. */
async function ask(key: string, script: (number: number) => Reply | FakeAnswer) {
  asked = 0;
  refusals.length = 0;
  answers = (number) => {
    const reply = script(number);
    return 'body' in reply ? reply : wire(reply);
  };
  const runId = await world.start(key);
  const end = await world.ended(runId);
  const events = await expectSound(world, runId, 'not asked by script');
  expect(refusals).toEqual([]);
  return { runId, end, events, tools: world.outside.toolsOf(runId), row: await world.row(runId) };
}

describe('C17 empty and broken arguments (openai/openai-agents-js#664)', () => {
  it.each([
    ['empty', ''],
    ['blank', '  '],
    ['missing', null],
    ['braces', '{}'],
  ])('take %s arguments as {}', async (name, args) => {
    const { end, tools } = await ask(`c17-${name}`, (number) =>
      number === 1 ? { calls: [{ name: 'look', args }] } : { text: 'done' },
    );
    expect(end.type).toBe('RunSucceeded');
    expect(tools.map((call) => call.arguments)).toEqual([{}]);
  });

  it('show the model an error for broken ones, and record the call', async () => {
    const { end, tools, events, row } = await ask('c17-broken', (number) =>
      number === 1 ? { calls: [{ name: 'look', args: '{"q"' }] } : { text: 'done' },
    );
    expect([end.type, tools, asked]).toEqual(['RunSucceeded', [], 2]);
    expect(ofType(events, 'ToolCallFailed')).toHaveLength(1);
    expect(row).toMatchObject({ tool_calls: 1, steps: 2 });
  });
});

it('C18 runs calls with missing or equal ids once each and answers them in order, over three turns (huggingface/smolagents#2684)', async () => {
  const ids: (string | null)[][] = [
    ['grep:3', 'grep:3'],
    ['', ''],
    [null, null],
    ['functions.eval:301', 'grep:3'],
  ];
  const { end, tools, runId } = await ask('c18', (number) => {
    const pair = ids[number - 1];
    return pair
      ? { calls: pair.map((id, index) => ({ id, name: 'look', args: `{"q":"${number}${index}"}` })) }
      : { text: 'done' };
  });
  expect(end.type).toBe('RunSucceeded');
  expect(tools.map((call) => call.arguments.q)).toEqual(['10', '11', '20', '21', '30', '31', '40', '41']);
  const dialog = await dialogOf(world, runId);
  expectPaired(dialog);
  expect(dialog.flatMap((message) => (message.role === 'tool' ? [message.text] : []))).toEqual(
    tools.map((call) => `result ${JSON.stringify(call.arguments)}`),
  );
  expect(await dialogOf(world, runId)).toEqual(dialog);
});

it.each([
  [
    'stop with a call',
    [{ calls: [{ name: 'look', args: '{}' }], finish: 'stop' }, { text: 'done' }],
    2,
    'stop',
  ],
  ['tool_calls without one', [{ text: '', finish: 'tool_calls' }], 1, 'tool_calls'],
  [
    'an unknown reason with text',
    [{ text: 'full', finish: 'model_context_window_exceeded' }],
    1,
    'model_context_window_exceeded',
  ],
] as [string, Reply[], number, string][])(
  'C19 decides by content, not by the finish reason: %s (anomalyco/opencode#14973)',
  async (name, replies, times, reason) => {
    const { end, events } = await ask(`c19 ${name}`, (number) => replies[number - 1]!);
    expect([end.type, asked]).toEqual(['RunSucceeded', times]);
    expect(ofType(events, 'ModelTurnCompleted')[0]?.data.providerReason).toBe(reason);
  },
);

describe('C21 an overload inside of a stream (vercel/ai#10653)', () => {
  const overloaded = { error: { type: 'overloaded_error', message: 'Overloaded' } };
  it.each([
    ['before any content', { body: [sse(overloaded)] }, null],
    [
      'after text',
      { body: [sse(textPart('one '), textPart('two '), textPart('three'), overloaded)] },
      'one two three',
    ],
    ['a close without a stop', { body: [sse(textPart('half'))] }, 'half'],
    ['a broken connection', { body: [sse(textPart('half'))], cut: true }, 'half'],
  ] as [string, FakeAnswer, string | null][])(
    'is retried, recorded and booked: %s',
    async (name, broken, partial) => {
      const { end, events, row } = await ask(`c21 ${name}`, (number) =>
        number === 1 ? broken : { text: 'whole' },
      );
      expect(end).toMatchObject({ type: 'RunSucceeded', data: { output: { text: 'whole' } } });
      expect(asked).toBe(2);
      const [failed] = ofType(events, 'ModelCallFailed');
      expect(failed?.data).toMatchObject({
        attempt: 1,
        next: 'retry',
        partialText: partial === null ? null : { text: partial },
      });
      expect(ofType(events, 'ModelTurnCompleted')[0]?.data.attempt).toBe(2);
      const lost = (failed?.data.usage.input ?? 0) + (failed?.data.usage.output ?? 0);
      expect(Number(row.total_tokens)).toBe(37 + lost);
      // What had been sent was paid for; a refusal before any content was not.
      expect(lost > 0).toBe(partial !== null);
    },
  );

  it('ends a run whose provider never recovers, with every attempt recorded', async () => {
    const { end, events } = await ask('c21-never', () => ({ body: [sse(textPart('half'))] }));
    expect(end).toMatchObject({
      type: 'RunFailed',
      data: { termination: 'Error', reason: 'provider_unavailable' },
    });
    expect(ofType(events, 'ModelCallFailed')).toHaveLength(asked);
    expect(asked).toBeGreaterThanOrEqual(2);
    expect(asked).toBeLessThanOrEqual(3);
  });
});

describe('C25 a call cut off by the output limit (LibreChat-AI/agents#280)', () => {
  const half = '{"edits":[{"path":"a/b.md","content":"# Ti';
  it.each([
    ['with the reason length', half, 'length', 'repeated_cut_off'],
    ['with a reason that a router rewrote', half, 'tool_calls', 'repeated_cut_off'],
    ['with brackets that a router closed', '{"edits":[{"path":"a/b.md"}]}', 'length', 'repeated_cut_off'],
  ])('is never executed %s', async (name, args, finish, code) => {
    const { end, tools, events } = await ask(`c25 ${name}`, () => ({
      calls: [{ name: 'edit', args }],
      finish,
    }));
    expect(tools).toEqual([]);
    expect(end).toMatchObject({ type: 'RunFailed', data: { termination: 'ToolFailure', error: { code } } });
    expect(asked).toBeLessThanOrEqual(4);
    expect(ofType(events, 'ToolCallFailed')[0]?.data.observation).toMatchObject({
      text: expect.stringContaining('cut off'),
    });
  });
});

describe('C30 arguments that do not fit the schema (anomalyco/opencode#8249)', () => {
  it.each([
    ['an array as a string', '{"edits":"[{\\"old\\":\\"a\\"}]"}', 'edits'],
    ['an unknown field', '{"edits":[],"surprise":1}', 'surprise'],
    ['null for a required field', '{"edits":null}', 'edits'],
  ])('end the run when the model repeats them three times: %s', async (name, args, field) => {
    const { end, tools, events } = await ask(`c30 ${name}`, () => ({ calls: [{ name: 'edit', args }] }));
    expect([asked, tools]).toEqual([3, []]);
    expect(end).toMatchObject({
      type: 'RunFailed',
      data: { reason: 'tool_failure', error: { code: 'repeated_invalid_call' } },
    });
    expect(ofType(events, 'ToolCallFailed')[0]?.data.observation).toMatchObject({
      text: expect.stringContaining(field),
    });
  });

  it('are shown to the model first, however often one turn repeats them', async () => {
    const wrong = { name: 'edit', args: '{"edits":"no"}' };
    const { end, events } = await ask('c30-parallel', (number) =>
      number === 1 ? { calls: [wrong, wrong, wrong, wrong] } : { text: 'I see' },
    );
    expect(end.type).toBe('RunSucceeded');
    expect(ofType(events, 'ToolCallFailed')).toHaveLength(4);
  });
});

describe('C28 a tool that times out and keeps working (TulipFarm/tulipfarm#181)', () => {
  it.each([
    ['writes and must not be repeated', false, 1, { reason: 'unknown_effect' }],
    ['writes idempotently', true, 3, { reason: 'tool_failure' }],
  ])('ends a call that %s', async (name, idempotent, effects, end) => {
    const received: string[] = [];
    const server = createServer((request, response) => {
      received.push(String(request.headers['idempotency-key']));
      setTimeout(() => response.end('late'), 3_000);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const slow: CatalogueTool = {
      name: 'slow',
      description: 'slow',
      inputSchema: { type: 'object' },
      effect: 'write',
      idempotent,
      timeoutMs: 1_000,
      endsRun: false,
      agentsAllowed: true,
      source: { kind: 'http', method: 'POST', url: `http://127.0.0.1:${port}/do` },
    };
    await using own = await World.create({ tools: [slow] });
    const tools = createToolRunner({
      secrets: () => undefined,
      recordings: () => Promise.reject(new Error('none')),
      http: { allowedHosts: ['*'], allowPrivate: true },
      mcp: { stdioCommands: [] },
      now: Date.now,
      log: { info: () => undefined, warn: () => undefined },
    });
    const worker = await TestExecutor.start(
      own,
      {
        model: (_request, step) => (step === 1 ? calls(['slow', '{}']) : { text: 'done' }),
        tool: () => ok('never'),
      },
      { tools },
    );
    const runId = await own.start(`c28 ${name}`);
    expect(await own.ended(runId)).toMatchObject({
      type: 'RunFailed',
      data: { termination: 'ToolFailure', ...end },
    });
    await wait(1_600);
    expect(received).toHaveLength(effects);
    expect(new Set(received).size).toBe(1);
    const types = await own.types(runId);
    expect(types.includes('ToolCallAmbiguous')).toBe(!idempotent);
    await worker.stop();
    await tools.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
});

it('C73 executes every step once, however often its message is delivered and its acknowledgement lost (nats-io/nats.java#1042)', async () => {
  await using own = await World.create();
  await using proxy = await faultyProxy(own.nats.port);
  own.outside.script = {
    model: async (_request, step) => (
      await wait(10),
      step < 3 ? calls(['put', `{"step":${step}}`]) : { text: 'done' }
    ),
    tool: async () => (await wait(10), ok('ok')),
  };
  const intake = await TestExecutor.start(own, null, { works: false, config: { places: 0 } });
  const list = Array.from({ length: 100 }, (_, n) => `c73-${n}`);
  await inBranches(list, 10, async (key) => void (await intake.take(own.requestFor(key))));
  const deliver = () =>
    inBranches(
      list,
      25,
      async (key) =>
        void (await own.bus.queues.publish(workSubject(ORG, own.runId(key)), { run_id: own.runId(key) })),
    );
  const [near, other] = [await TestExecutor.start(own), await TestExecutor.start(own)];
  const far = await TestExecutor.start(own, null, { servers: proxy.url });
  await deliver();
  for (let times = 0; times < 4; times++) {
    // Answers and acknowledgements of one of three workers are lost; its connection is made anew.
    proxy.lose('toClient');
    await wait(150);
    proxy.heal();
    proxy.cut();
    await deliver();
    await wait(500);
  }
  for (const key of list) {
    const runId = own.runId(key);
    expect({ key, type: (await own.ended(runId, 60_000)).type }).toEqual({ key, type: 'RunSucceeded' });
    await expectSound(own, runId, key);
  }
  await expectQuiet(own, [near, other, far]);
  await Promise.all([near, other, far, intake].map((one) => one.stop()));
});

it('leaves rows that equal their replay', () => expectQuiet(world, [executor]));

import fc from 'fast-check';
import type { ModelRoute } from '@runyard/contracts';
import {
  anthropicRoute,
  KEY,
  named,
  openAiRoute,
  request,
  sse,
  startProvider,
  tool,
  type FakeAnswer,
  type FakeProvider,
} from './fake-provider';
import { createModelAdapter } from './model.adapter';
import { strictAnthropic, strictOpenAi, type Validator } from './strict-validators';
import type { ChatMessage, ModelTurn } from './types';
import { fieldsOf, listOf, type Fields } from './wire-json';

// Many exchanges over real sockets, on machines that may be busy with other specs.
jest.setTimeout(120_000);

const adapter = createModelAdapter({
  secrets: () => KEY,
  recordings: () => Promise.reject(new Error('none')),
});
const user = (text: string): ChatMessage => ({ role: 'user', text });

/** What the run's loop does with a turn: our ids, results in call order. */
const after = (turn: ModelTurn, step: number): ChatMessage[] => {
  const toolCalls = turn.toolCalls.map((call, i) => ({
    callId: `c${step}-${i}`,
    tool: call.tool,
    arguments: call.arguments,
  }));
  return [
    { role: 'assistant', text: turn.text, toolCalls, providerState: turn.providerState, provider: 'x' },
    ...toolCalls.map(({ callId, tool: name }): ChatMessage => ({
      role: 'tool',
      callId,
      tool: name,
      text: `result of ${callId}`,
    })),
  ];
};

type Content = { text?: string | null; calls?: { id: string | null; name: string; args: string }[] };
const kinds: [string, (url: string) => ModelRoute, Validator, (content: Content) => string][] = [
  [
    'openai-compatible',
    openAiRoute,
    strictOpenAi,
    ({ text, calls = [] }) => {
      const tool_calls = calls.map(({ id, name, args }, index) => ({
        index,
        id,
        type: 'function',
        function: { name, arguments: args },
      }));
      return sse({
        choices: [
          {
            delta: {
              ...(text === undefined ? {} : { content: text }),
              ...(calls.length > 0 ? { tool_calls } : {}),
            },
            finish_reason: 'stop',
          },
        ],
      });
    },
  ],
  [
    'anthropic',
    anthropicRoute,
    strictAnthropic,
    ({ text, calls = [] }) => {
      const blocks: object[][] = calls.map(({ id, name, args }) => [
        { type: 'tool_use', id, name, input: {} },
        { type: 'input_json_delta', partial_json: args },
      ]);
      if (typeof text === 'string')
        blocks.unshift([
          { type: 'text', text: '' },
          { type: 'text_delta', text },
        ]);
      return named(
        { type: 'message_start', message: { id: 'm', content: [] } } as { type: string },
        ...blocks.flatMap(([content_block, delta], index) => [
          { type: 'content_block_start', index, content_block },
          { type: 'content_block_delta', index, delta },
        ]),
        { type: 'message_delta', delta: { stop_reason: 'end_turn' } } as { type: string },
        { type: 'message_stop' },
      );
    },
  ],
];

/** Refuses what its validator refuses, else answers by number. */
const strictly = (validate: Validator, answers: string[]): Promise<FakeProvider> =>
  startProvider(({ body }, number): FakeAnswer => {
    const fault = validate(body);
    if (fault) return { status: 400, headers: {}, body: [JSON.stringify({ error: { message: fault } })] };
    return { body: [answers[number - 1] ?? answers.at(-1) ?? ''] };
  });

describe.each(kinds)('%s', (_, route, validate, wire) => {
  async function converse(
    answers: string[],
    tools = [tool('grep')],
  ): Promise<{ turns: ModelTurn[]; bodies: Fields[] }> {
    await using provider = await strictly(validate, answers);
    const messages = [user('Go')];
    const turns: ModelTurn[] = [];
    for (let step = 1; step <= answers.length; step++) {
      const result = await adapter.call(request(route(provider.url), { messages, tools }));
      if (!result.ok) throw new Error(`Turn ${step}: ${result.failure.text}`);
      turns.push(result.turn);
      messages.push(...after(result.turn, step));
    }
    return { turns, bodies: provider.received.map(({ body }) => body) };
  }

  it.each([
    ['equal', 'grep:3', 'grep:3'],
    ['empty', '', ''],
    ['missing', null, null],
    ['reused', 'functions.eval:301', 'functions.eval:302'],
  ])('C18 %s ids over three turns (huggingface/smolagents#2684)', async (__, first, second) => {
    const calls = [
      { id: first, name: 'grep', args: '{"q":"X"}' },
      { id: second, name: 'grep', args: '{"q":"Y"}' },
    ];
    const { turns } = await converse([wire({ text: null, calls }), wire({ calls }), wire({ text: 'Done.' })]);
    expect(turns[1]?.toolCalls.map((call) => call.arguments)).toEqual(['{"q":"X"}', '{"q":"Y"}']);
    expect(turns[2]?.text).toBe('Done.');
  });

  it.each<[string, Content]>([
    ['nothing', {}],
    ['an empty text', { text: '' }],
    ['an empty text with a call', { text: '', calls: [{ id: 'a', name: 'grep', args: '' }] }],
    ['no text with a call', { text: null, calls: [{ id: 'a', name: 'grep', args: '{"q"' }] }],
    ['a made-up tool', { text: 'x', calls: [{ id: 'a', name: 'web.search?', args: '[]' }] }],
  ])('C22 a turn of %s does not spoil the later ones (block/buzz#559)', async (__, content) => {
    const { turns } = await converse([wire(content), wire(content), wire({ text: 'Done.' })]);
    expect(turns[2]?.text).toBe('Done.');
    if (content.text !== undefined && content.text !== null) expect(turns[0]?.text).toBe(content.text);
    else expect(turns[0]?.text).toBeNull();
  });

  it('C10 any history, cut anywhere, makes a request that is accepted (aaif-goose/goose#2951)', async () => {
    await using provider = await strictly(validate, [wire({ text: 'ok' })]);
    const wild = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('', ' ', '\0', '\ud800', 'x\udc00', '北🌍'),
    );
    const id = fc.constantFrom('c1-0', 'c1-1', 'c2-0', 'x:y', '');
    const call = fc.record({
      callId: id,
      tool: fc.oneof(wild, fc.constantFrom('grep', 'toString', '__proto__', 'constructor')),
      arguments: fc.oneof(wild, fc.json(), fc.constant('{"a":"\\ud800\\u0000"}')),
    });
    const message: fc.Arbitrary<ChatMessage> = fc.oneof(
      wild.map(user),
      fc.record({
        role: fc.constant('assistant' as const),
        text: fc.option(wild),
        toolCalls: fc.array(call, { maxLength: 3 }),
        providerState: fc.constant(null),
        provider: fc.constant(null),
      }),
      fc.record({ role: fc.constant('tool' as const), callId: id, tool: fc.constant('grep'), text: wild }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(message, { maxLength: 12 }), wild, async (messages, system) => {
        const result = await adapter.call(
          request(route(provider.url), { messages, system, tools: [tool('grep'), tool('a.b')] }),
        );
        if (!result.ok) throw new Error(result.failure.text);
      }),
      { numRuns: 150 },
    );
  });

  it('C10 a true run, cut after every message', async () => {
    await using provider = await strictly(validate, [wire({ text: 'ok' })]);
    const turn = (step: number): ChatMessage[] =>
      after(
        {
          text: 'x',
          reasoning: null,
          toolCalls: [1, 2].map((n) => ({ providerCallId: 'p', tool: 'grep', arguments: `{"q":${n}}` })),
          providerReason: '',
          finish: 'stop',
          usage: { input: 0, output: 0, cached: 0, estimated: false },
          model: '',
          providerState: null,
        },
        step,
      );
    const history = [user('Go'), ...turn(1), ...turn(2), user('More'), ...turn(3)];
    for (let from = 0; from < history.length; from++)
      for (let to = from; to <= history.length; to++) {
        const result = await adapter.call(
          request(route(provider.url), { messages: history.slice(from, to) }),
        );
        expect(result.ok || result.failure).toBe(true);
      }
  });
});

describe('provider state goes back to who wrote it', () => {
  const thinking = named(
    { type: 'message_start', message: { id: 'm', content: [] } } as { type: string },
    ...[
      [
        { type: 'thinking', thinking: '' },
        { type: 'thinking_delta', thinking: 'I think ☃' },
        { type: 'signature_delta', signature: 'sig==' },
      ],
      [
        { type: 'text', text: '' },
        { type: 'text_delta', text: 'Look:' },
      ],
      [{ type: 'redacted_thinking', data: 'opaque' }],
      [
        { type: 'tool_use', id: 'toolu_1', name: 'grep', input: {} },
        { type: 'input_json_delta', partial_json: '{"q":1}' },
      ],
    ].flatMap(([content_block, ...deltas], index) => [
      { type: 'content_block_start', index, content_block },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    ]),
    { type: 'message_delta', delta: { stop_reason: 'tool_use' } } as { type: string },
    { type: 'message_stop' },
  );
  const reasoning = sse(
    { choices: [{ delta: { reasoning_content: 'I think ☃' } }] },
    {
      choices: [
        {
          delta: {
            tool_calls: [
              {
                index: 0,
                id: 'a',
                function: { name: 'grep', arguments: '{"q": 1}' },
                extra_content: { google: { thought_signature: 's' } },
              },
            ],
          },
          finish_reason: 'tool_calls',
        },
      ],
    },
  );

  async function second(
    route: (url: string) => ModelRoute,
    first: string,
    other?: (url: string) => ModelRoute,
  ): Promise<Fields> {
    await using provider = await startProvider(() => ({ body: [first] }));
    const one = await adapter.call(request(route(provider.url)));
    if (!one.ok) throw new Error(one.failure.text);
    await adapter.call(
      request((other ?? route)(provider.url), { messages: [user('Go'), ...after(one.turn, 1)] }),
    );
    return (
      fieldsOf(
        listOf(provider.received[1]?.body['messages']).find(
          (message) => fieldsOf(message)?.['role'] === 'assistant',
        ),
      ) ?? {}
    );
  }

  it('Anthropic: signed and hidden thoughts in their order', async () => {
    expect((await second(anthropicRoute, thinking))['content']).toEqual([
      { type: 'thinking', thinking: 'I think ☃', signature: 'sig==' },
      { type: 'text', text: 'Look:' },
      { type: 'redacted_thinking', data: 'opaque' },
      { type: 'tool_use', id: 'c1-0', name: 'grep', input: { q: 1 } },
    ]);
  });
  it('Anthropic: not to another model', async () => {
    const content = (await second(anthropicRoute, thinking, (url) => anthropicRoute(url, 'claude-other')))[
      'content'
    ];
    expect(listOf(content).map((part) => fieldsOf(part)?.['type'])).toEqual(['text', 'tool_use']);
  });
  it('chat completions: reasoning and vendor data of calls, arguments byte for byte', async () => {
    expect(await second(openAiRoute, reasoning)).toEqual({
      role: 'assistant',
      content: null,
      reasoning_content: 'I think ☃',
      tool_calls: [
        {
          id: 'c1-0',
          type: 'function',
          function: { name: 'grep', arguments: '{"q": 1}' },
          extra_content: { google: { thought_signature: 's' } },
        },
      ],
    });
  });
  it('chat completions: not to another model, nor to another kind of provider', async () => {
    const message = await second(openAiRoute, reasoning, (url) => openAiRoute(url, 'other'));
    expect(Object.keys(message).sort()).toEqual(['content', 'role', 'tool_calls']);
    expect(JSON.stringify(await second(openAiRoute, reasoning, anthropicRoute))).not.toContain('think');
  });
});

import { recordedRoute, request } from './fake-provider';
import { createModelAdapter } from './model.adapter';
import type { ChatMessage, ModelAdapter, ModelFailure, ModelRequest, ModelTurn } from './types';

const user = (text: string): ChatMessage => ({ role: 'user', text });
const result = (callId: string, text: string): ChatMessage => ({ role: 'tool', callId, tool: 'grep', text });
const asMessage = (turn: ModelTurn, step: number): ChatMessage => ({
  role: 'assistant',
  text: turn.text,
  toolCalls: turn.toolCalls.map((call, i) => ({
    callId: `c${step}-${i}`,
    tool: call.tool,
    arguments: call.arguments,
  })),
  providerState: null,
  provider: null,
});

const playing = (...dialogs: object[]): ModelAdapter =>
  createModelAdapter({
    secrets: () => undefined,
    recordings: async () => ({ format: 'runyard-recording/1', model: 'gpt-rec', dialogs }),
  });
async function turn(
  model: ModelAdapter,
  messages: ChatMessage[],
  more: Partial<ModelRequest> = {},
): Promise<ModelTurn> {
  const answer = await model.call(request(recordedRoute('r'), { messages, ...more }));
  if (!answer.ok) throw new Error(answer.failure.text);
  return answer.turn;
}
async function fails(
  model: ModelAdapter,
  messages: ChatMessage[],
  more: Partial<ModelRequest> = {},
): Promise<ModelFailure> {
  const answer = await model.call(request(recordedRoute('r'), { messages, ...more }));
  if (answer.ok) throw new Error('The recording answered.');
  return answer.failure;
}

const call = { id: 'call_9', tool: 'grep', arguments: '{"q": 1.0}' };
const hello = {
  turns: [
    {
      expect: [{ role: 'user', text: 'Hello' }],
      tool_calls: [call],
      usage: { input: 5, output: 2, cached: 1 },
    },
    { expect: [{ role: 'tool', text: 'found' }], text: 'Done.', model: 'gpt-other' },
    { text: 'Bye.' },
  ],
};

describe('a recording', () => {
  it('plays its turns in order, byte for byte', async () => {
    const model = playing(hello);
    const messages = [user('Hello')];
    const first = await turn(model, messages);
    expect(first).toEqual({
      text: null,
      reasoning: null,
      toolCalls: [{ providerCallId: 'call_9', tool: 'grep', arguments: '{"q": 1.0}' }],
      providerReason: 'tool_calls',
      finish: 'tool_calls',
      usage: { input: 5, output: 2, cached: 1, estimated: false },
      model: 'gpt-rec',
      providerState: null,
    });
    messages.push(asMessage(first, 1), result('c1-0', 'found'));
    const second = await turn(model, messages);
    expect(second).toMatchObject({
      text: 'Done.',
      finish: 'stop',
      model: 'gpt-other',
      usage: { estimated: true },
    });
    messages.push(asMessage(second, 2), user('anything'), user('at all'));
    expect((await turn(model, messages)).text).toBe('Bye.');
  });

  it('answers another process from the dialog alone', async () => {
    const first = await turn(playing(hello), [user('Hello')]);
    expect(
      (await turn(playing(hello), [user('Hello'), asMessage(first, 1), result('x', 'found')])).text,
    ).toBe('Done.');
  });

  it('chooses the dialog by what was said, by name, or by system prompt', async () => {
    const dialog = (name: string, said: string, text: string, system?: string): object => ({
      name,
      ...(system ? { system } : {}),
      turns: [{ expect: [{ role: 'user', text: said }], text }],
    });
    const model = playing(
      dialog('a', 'x', '1'),
      dialog('b', 'y', '2'),
      dialog('c', 'y', '3'),
      dialog('d', 'z', '4', 'other'),
      dialog('e', 'z', '5', 'You help.'),
    );
    expect((await turn(model, [user('x')])).text).toBe('1');
    expect((await turn(model, [user('y')])).text).toBe('2');
    expect((await turn(model, [user('y')], { route: recordedRoute('r#c') })).text).toBe('3');
    expect((await turn(model, [user('z')])).text).toBe('5');
    expect((await fails(model, [user('y')], { route: recordedRoute('r#none') })).code).toBe(
      'recording_differs',
    );
  });

  it('goes on with the dialogs that begin alike, until they part', async () => {
    const dialog = (found: string, text: string): object => ({
      turns: [
        { expect: [{ role: 'user', text: 'Hello' }], tool_calls: [call] },
        { expect: [{ role: 'tool', text: found }], text },
      ],
    });
    const model = playing(dialog('a', '1'), dialog('b', '2'));
    const messages = [user('Hello')];
    messages.push(asMessage(await turn(model, messages), 1), result('c1-0', 'b'));
    expect((await turn(model, messages)).text).toBe('2');
  });
});

describe('a dialog that differs is refused with the first difference', () => {
  const first: ChatMessage = {
    role: 'assistant',
    text: null,
    toolCalls: [{ callId: 'c1-0', tool: 'grep', arguments: '{"q": 1.0}' }],
    providerState: null,
    provider: null,
  };
  it.each<[string, ChatMessage[], string]>([
    [
      'a user text',
      [user('Help')],
      'Before turn 1, message 1 (user): at character 4 expected "lo", found "p".',
    ],
    ['no message', [], 'Before turn 1: the recording expects 1 messages, the dialog has 0.'],
    [
      'one message more',
      [user('Hello'), user('you')],
      'Before turn 1: the recording expects 1 messages, the dialog has 2.',
    ],
    ['a role', [result('c0-0', 'Hello')], 'Before turn 1, message 1: expected one of role user, found tool.'],
    [
      'a result',
      [user('Hello'), first, result('c1-0', 'found it')],
      'Before turn 2, message 1 (tool): at character 6 expected its end, found " it".',
    ],
    [
      "an answer's text",
      [user('Hello'), { ...first, text: '' }, result('c1-0', 'found')],
      'In turn 1, text: expected none, found its end.',
    ],
    [
      'arguments',
      [user('Hello'), { ...first, toolCalls: [{ callId: 'a', tool: 'grep', arguments: '{"q": 1}' }] }],
      'In turn 1, arguments of call 1: at character 8 expected ".0}", found "}".',
    ],
    [
      'a tool',
      [user('Hello'), { ...first, toolCalls: [{ callId: 'a', tool: 'read', arguments: '{}' }] }],
      'In turn 1, call 1: expected tool grep, found read.',
    ],
    [
      'a call less',
      [user('Hello'), { ...first, toolCalls: [] }],
      'In turn 1: the recording has 1 calls, the dialog 0.',
    ],
  ])('%s', async (_, messages, text) => {
    expect(await fails(playing(hello), messages)).toMatchObject({
      code: 'recording_differs',
      retryable: false,
      text,
    });
  });
  it('a turn too many', async () => {
    const model = playing({ turns: [{ text: 'Only.' }] });
    const only = await turn(model, [user('a')]);
    expect((await fails(model, [user('a'), asMessage(only, 1), user('b')])).text).toContain(
      'asks for turn 2',
    );
  });
});

describe('scripted failures', () => {
  const script = playing({
    turns: [
      {
        expect: [{ role: 'user', any: true }],
        text: 'At last.',
        failures: [
          { status: 429, message: 'slow down', retry_after_ms: 40 },
          { error: 'overloaded_error' },
          { cut_after: 'At l' },
          { error: 'overloaded_error', after_text: 'At' },
        ],
      },
    ],
  });
  const expected = [
    { code: 'rate_limited', status: 429, retryAfterMs: 40, retryable: true, usage: null },
    { code: 'provider_unavailable', retryable: true, usage: null },
    { code: 'interrupted', partialText: 'At l', usage: { output: 4, estimated: true } },
    { code: 'interrupted', partialText: 'At', retryable: true },
  ];
  it('come one per attempt, then the turn', async () => {
    const messages = [user('a')];
    for (const one of expected) expect(await fails(script, messages)).toMatchObject(one);
    expect((await turn(script, messages)).text).toBe('At last.');
  });
  it('come by the number of the attempt, where it is given', async () => {
    expect(await fails(script, [user('a')], { attempt: 3 })).toMatchObject(expected[2]!);
    expect((await turn(script, [user('a')], { attempt: 5 })).text).toBe('At last.');
  });
});

it('waits as long as a turn says, unless it is cancelled', async () => {
  const model = playing({ turns: [{ text: 'Late.', delay_ms: 60_000 }] });
  const cancel = new AbortController();
  const waiting = fails(model, [user('a')], { signal: cancel.signal });
  cancel.abort();
  expect(await waiting).toMatchObject({ code: 'cancelled', retryable: false });
});

it('a run of 2,000 repeated turns costs as much per step as a short one', async () => {
  const model = playing({
    turns: [
      {
        expect: [{ role: 'user', text: 'Go' }],
        repeat: 1,
        tool_calls: [{ id: 'call_{step}', tool: 'grep', arguments: '{"q":{step}}' }],
      },
      {
        expect: [{ role: 'tool', text: 'result' }],
        repeat: 1_999,
        tool_calls: [{ tool: 'grep', arguments: '{"q":{step}}' }],
        usage: { input: 1, output: 1 },
      },
      { text: 'End.' },
    ],
  });
  let reads = 0;
  const counting = (message: ChatMessage): ChatMessage =>
    Object.defineProperty({ ...message }, 'role', { get: () => (reads++, message.role) }) as ChatMessage;
  const messages = [user('Go')];
  for (let step = 1; step <= 2_000; step++) {
    const played = await turn(model, messages, { tools: [] });
    expect(played.toolCalls[0]?.arguments).toBe(`{"q":${step}}`);
    messages.push(counting(asMessage(played, step)), counting(result(`c${step}-0`, 'result')));
  }
  expect((await turn(model, messages)).text).toBe('End.');
  // Each message is looked at a fixed number of times, however long the dialog is.
  expect(reads).toBeLessThan(2_000 * 2 * 8);
});

describe('a recording that cannot be played', () => {
  const from = (recordings: () => Promise<unknown>): ModelAdapter =>
    createModelAdapter({ secrets: () => undefined, recordings });
  it('is refused with the place of the fault', async () => {
    const failure = await fails(
      from(async () => ({ format: 'runyard-recording/1', dialogs: [{ turns: [{ txt: 1 }] }] })),
      [user('a')],
    );
    expect(failure).toMatchObject({ code: 'provider_invalid', retryable: false });
    expect(failure.text).toContain('/dialogs/0/turns/0/txt');
  });
  it('is read again after it was missing', async () => {
    let there = false;
    const model = from(async () => {
      if (!there) throw new Error('no such file');
      return JSON.stringify({ format: 'runyard-recording/1', dialogs: [{ turns: [{ text: 'Now.' }] }] });
    });
    expect((await fails(model, [user('a')])).text).toContain('no such file');
    there = true;
    expect((await turn(model, [user('a')])).text).toBe('Now.');
  });
});

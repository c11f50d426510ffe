import { OpenAiAnswer } from './openai-answer';
import type { AnswerContent } from './answer';

const delta = (fields: object, finish: string | null = null): object => ({
  model: 'gpt-x',
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
});
const call = (
  index: number | undefined,
  id: string | null | undefined,
  name?: string,
  args?: string,
): object => ({
  ...(index === undefined ? {} : { index }),
  ...(id === undefined ? {} : { id }),
  function: { ...(name === undefined ? {} : { name }), ...(args === undefined ? {} : { arguments: args }) },
});
const calls = (...parts: object[]): object => delta({ tool_calls: parts });

function streamed(...events: object[]): AnswerContent {
  const answer = new OpenAiAnswer();
  for (const event of events) expect(answer.takeEvent(event)).toBeNull();
  return answer.content();
}

function whole(message: object, finish: string | null = 'stop'): AnswerContent {
  const answer = new OpenAiAnswer();
  expect(answer.takeWhole({ choices: [{ message, finish_reason: finish }] })).toBeNull();
  expect(answer.finished).toBe(true);
  return answer.content();
}

describe('C17 arguments stay as they came (openai/openai-agents-js#664)', () => {
  const inputs: [string, string | null | undefined, string][] = [
    ['empty', '', ''],
    ['blank', '  ', '  '],
    ['null', null, ''],
    ['missing', undefined, ''],
    ['an empty object', '{}', '{}'],
    ['broken', '{"q"', '{"q"'],
    ['oddly written', '{ "q" :1.0e2,\n"q":"\\u00e9"}', '{ "q" :1.0e2,\n"q":"\\u00e9"}'],
  ];
  it.each(inputs)('%s, streamed and whole', (_, given, kept) => {
    const called = { name: 'ping', ...(given === undefined ? {} : { arguments: given }) };
    const expected = [{ providerCallId: 'a', tool: 'ping', arguments: kept }];
    expect(streamed(calls({ index: 0, id: 'a', function: called })).toolCalls).toEqual(expected);
    expect(whole({ content: null, tool_calls: [{ id: 'a', function: called }] }).toolCalls).toEqual(expected);
  });
});

describe('C18 ids are data, calls are told apart by their place (huggingface/smolagents#2684)', () => {
  it.each([
    ['equal', 'grep:3', 'grep:3', 'grep:3'],
    ['empty', '', '', ''],
    ['null', null, null, ''],
    ['missing', undefined, undefined, ''],
  ])('%s ids', (_, first, second, kept) => {
    const both = [
      { providerCallId: kept, tool: 'grep', arguments: '{"q":"X"}' },
      { providerCallId: kept, tool: 'grep', arguments: '{"q":"Y"}' },
    ];
    const parts = [call(0, first, 'grep', '{"q":"X"}'), call(1, second, 'grep', '{"q":"Y"}')];
    expect(streamed(calls(...parts)).toolCalls).toEqual(both);
    expect(streamed(calls(parts[0]!), calls(parts[1]!)).toolCalls).toEqual(both);
    expect(whole({ tool_calls: parts }).toolCalls).toEqual(both);
  });

  it('parts of two calls may come mixed, numbered from 1, and with ids that change', () => {
    const answer = streamed(
      calls(call(1, 'a', 'grep', '{"q"'), call(2, 'b', 'read', '')),
      calls(call(2, 'b2', '', '{"p":'), call(1, 'a2', 'grep', ':1}')),
      calls(call(2, null, undefined, '2}')),
    );
    expect(answer.toolCalls).toEqual([
      { providerCallId: 'a', tool: 'grep', arguments: '{"q":1}' },
      { providerCallId: 'b', tool: 'read', arguments: '{"p":2}' },
    ]);
  });

  it('a vendor that numbers every call 0, or none, sends two calls', () => {
    const two = [
      { providerCallId: 'a', tool: 'grep', arguments: '{"q":1}' },
      { providerCallId: 'b', tool: 'grep', arguments: '{"q":2}' },
    ];
    expect(
      streamed(calls(call(0, 'a', 'grep', '{"q":1}')), calls(call(0, 'b', 'grep', '{"q":2}'))).toolCalls,
    ).toEqual(two);
    expect(
      streamed(
        calls(call(undefined, 'a', 'grep', '{"q"')),
        calls(call(undefined, undefined, undefined, ':1}')),
        calls(call(undefined, 'b', 'grep', '{"q":2}')),
      ).toolCalls,
    ).toEqual(two);
  });

  it('a name that comes after the first part is taken', () => {
    expect(streamed(calls(call(0, 'a')), calls(call(0, undefined, 'grep', '{}'))).toolCalls).toEqual([
      { providerCallId: 'a', tool: 'grep', arguments: '{}' },
    ]);
  });
});

describe("C19 reasons are kept in the provider's words (anomalyco/opencode#14973)", () => {
  it.each([
    ['stop', 'stop'],
    ['tool_calls', 'tool_calls'],
    ['function_call', 'tool_calls'],
    ['length', 'length'],
    ['content_filter', 'content_filter'],
    ['model_context_window_exceeded', 'other'],
    ['constructor', 'other'],
  ])('%s is %s', (word, finish) => {
    expect(streamed(delta({ content: 'x' }), delta({}, word))).toMatchObject({
      providerReason: word,
      finish,
    });
  });

  it('stop together with calls keeps both', () => {
    expect(streamed(calls(call(0, 'a', 'grep', '{}')), delta({}, 'stop'))).toMatchObject({
      finish: 'stop',
      toolCalls: [{ tool: 'grep' }],
    });
  });

  it('a refusal is one, though the reason is stop', () => {
    expect(
      streamed(delta({ refusal: 'I will ' }), delta({ refusal: 'not.' }), delta({}, 'stop')),
    ).toMatchObject({
      finish: 'refusal',
      text: 'I will not.',
    });
    expect(whole({ content: null, refusal: 'No.' })).toMatchObject({ finish: 'refusal', text: 'No.' });
    expect(whole({ content: 'Yes.', refusal: false })).toMatchObject({ finish: 'stop', text: 'Yes.' });
  });
});

describe('C25 arguments that the output limit cut off are never repaired (LibreChat-AI/agents#280)', () => {
  const cut = '{"path":"a/b.md","content":"# Ti';
  it.each(['length', 'tool_calls'])('reason %s', (reason) => {
    expect(streamed(calls(call(0, 'a', 'write_file', cut)), delta({}, reason))).toMatchObject({
      providerReason: reason,
      finish: reason,
      toolCalls: [{ arguments: cut }],
    });
  });
});

describe('C22 null is not an empty text (block/buzz#559)', () => {
  it('streamed', () => {
    expect(
      streamed(delta({ role: 'assistant', content: null }), calls(call(0, 'a', 'f', '{}'))).text,
    ).toBeNull();
    expect(streamed(delta({ role: 'assistant', content: '' }), calls(call(0, 'a', 'f', '{}'))).text).toBe('');
    expect(streamed(delta({}, 'stop')).text).toBeNull();
  });
  it('whole', () => {
    expect(whole({ content: null, tool_calls: [] }).text).toBeNull();
    expect(whole({ content: '' }).text).toBe('');
    expect(whole({}).text).toBeNull();
  });
});

it('reads content that is a list of texts and thoughts', () => {
  const thought = { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] };
  expect(
    whole({ content: [thought, { type: 'text', text: 'A' }, { type: 'text', text: 'B' }] }),
  ).toMatchObject({
    text: 'AB',
    reasoning: 'hm',
  });
});

describe('what must go back with a turn', () => {
  it('is the reasoning of turns with calls, in the field it came in', () => {
    const answer = new OpenAiAnswer();
    answer.takeEvent(delta({ reasoning_content: 'first ' }));
    answer.takeEvent(delta({ reasoning_content: 'think' }));
    expect(answer.state()).toBeNull();
    answer.takeEvent(calls(call(0, 'a', 'grep', '{}')));
    expect(answer.content().reasoning).toBe('first think');
    expect(answer.state()).toEqual({ message: { reasoning_content: 'first think' }, calls: [] });
  });

  it('joins parts of one reasoning block, and keeps vendor data of calls', () => {
    const answer = new OpenAiAnswer();
    answer.takeEvent(
      delta({ reasoning: 'a', reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'a' }] }),
    );
    answer.takeEvent(
      delta({
        reasoning: 'b',
        reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'b', signature: 's' }],
      }),
    );
    answer.takeEvent(
      calls({ ...call(0, 'a', 'grep', '{}'), extra_content: { google: { thought_signature: 'x' } } }),
    );
    expect(answer.state()).toEqual({
      message: {
        reasoning: 'ab',
        reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'ab', signature: 's' }],
      },
      calls: [{ google: { thought_signature: 'x' } }],
    });
  });
});

it('is not finished without a reason, and is with one', () => {
  const answer = new OpenAiAnswer();
  answer.takeEvent(delta({ content: 'half' }));
  expect(answer.finished).toBe(false);
  answer.takeEvent(delta({}, 'stop'));
  expect(answer.finished).toBe(true);
});

it.each([
  [
    'an object',
    { error: { message: 'busy', type: 'server_error', code: 502 } },
    { type: 'server_error', message: 'busy', status: 502 },
  ],
  ['a text', { error: 'no more' }, { type: '', message: 'no more', status: null }],
  [
    'inside a choice',
    { choices: [{ error: { message: 'x', code: 'overloaded' } }] },
    { type: 'overloaded', message: 'x', status: null },
  ],
])('finds an error that is %s', (_, event, error) => {
  expect(new OpenAiAnswer().takeEvent(event)).toEqual(error);
  expect(new OpenAiAnswer().takeWhole(event)).not.toBeNull();
});

it('takes no answer from what is none', () => {
  expect(new OpenAiAnswer().takeWhole({ object: 'response', output: [] })).toMatchObject({
    type: 'malformed_answer',
  });
  expect(new OpenAiAnswer().takeEvent('text')).toMatchObject({ type: 'malformed_answer' });
});

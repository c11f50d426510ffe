import type { AnswerContent } from './answer';
import { AnthropicAnswer } from './anthropic-answer';

const start = {
  type: 'message_start',
  message: { id: 'm1', model: 'claude-x', content: [], usage: { input_tokens: 3, output_tokens: 1 } },
};
const block = (index: number, content: object): object => ({
  type: 'content_block_start',
  index,
  content_block: content,
});
const part = (index: number, delta: object): object => ({ type: 'content_block_delta', index, delta });
const stop = (reason: string | null): object[] => [
  { type: 'message_delta', delta: { stop_reason: reason }, usage: { output_tokens: 9 } },
  { type: 'message_stop' },
];

function read(...events: object[]): AnthropicAnswer {
  const answer = new AnthropicAnswer();
  for (const event of [start, ...events]) expect(answer.takeEvent(event)).toBeNull();
  return answer;
}
const streamed = (...events: object[]): AnswerContent => read(...events).content();
function whole(content: object[], stop_reason: string): AnswerContent {
  const answer = new AnthropicAnswer();
  expect(answer.takeWhole({ id: 'm1', content, stop_reason })).toBeNull();
  return answer.content();
}

describe('C17 arguments stay as they came (openai/openai-agents-js#664)', () => {
  it.each([
    ['no part', [], ''],
    ['an empty part', [''], ''],
    ['blank', ['  '], '  '],
    ['an empty object', ['{}'], '{}'],
    ['broken', ['{"q"'], '{"q"'],
    ['in parts', ['{ "q"', ' : "\\u00e9"', '}'], '{ "q" : "\\u00e9"}'],
  ])('%s', (_, parts, kept) => {
    const events = parts.map((partial_json) => part(0, { type: 'input_json_delta', partial_json }));
    expect(
      streamed(block(0, { type: 'tool_use', id: 't', name: 'ping', input: {} }), ...events).toolCalls,
    ).toEqual([{ providerCallId: 't', tool: 'ping', arguments: kept }]);
  });
  it('given at the start of the block, or whole', () => {
    const use = { type: 'tool_use', id: 't', name: 'ping', input: { q: 1 } };
    expect(streamed(block(0, use)).toolCalls[0]?.arguments).toBe('{"q":1}');
    expect(whole([use, { ...use, input: {} }], 'tool_use').toolCalls.map((call) => call.arguments)).toEqual([
      '{"q":1}',
      '{}',
    ]);
  });
});

describe("C19 reasons are kept in the provider's words (anomalyco/opencode#14973)", () => {
  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['tool_use', 'tool_calls'],
    ['max_tokens', 'length'],
    ['refusal', 'refusal'],
    ['pause_turn', 'other'],
    ['model_context_window_exceeded', 'other'],
  ])('%s is %s', (word, finish) => {
    expect(streamed(block(0, { type: 'text', text: 'x' }), ...stop(word))).toMatchObject({
      providerReason: word,
      finish,
    });
  });
  it('tool_use without content is an answer without calls', () => {
    expect(streamed(...stop('tool_use'))).toEqual({
      text: null,
      reasoning: null,
      toolCalls: [],
      providerReason: 'tool_use',
      finish: 'tool_calls',
    });
  });
});

it('C22 no text block is null, an empty one is an empty text (block/buzz#559)', () => {
  const use = { type: 'tool_use', id: 't', name: 'f', input: {} };
  expect(streamed(block(0, use)).text).toBeNull();
  expect(streamed(block(0, { type: 'text', text: '' }), block(1, use)).text).toBe('');
  expect(whole([{ type: 'text', text: '' }, use], 'tool_use').text).toBe('');
  expect(whole([], 'end_turn').text).toBeNull();
});

it('keeps signed and hidden thoughts in their order', () => {
  const answer = read(
    block(0, { type: 'thinking', thinking: '', signature: '' }),
    part(0, { type: 'thinking_delta', thinking: 'let ' }),
    part(0, { type: 'thinking_delta', thinking: 'me' }),
    part(0, { type: 'signature_delta', signature: 'sig==' }),
    block(1, { type: 'text', text: '' }),
    part(1, { type: 'text_delta', text: 'Hm.' }),
    block(2, { type: 'redacted_thinking', data: 'xyz' }),
    block(3, { type: 'tool_use', id: 't', name: 'f', input: {} }),
    ...stop('tool_use'),
  );
  expect(answer.content()).toMatchObject({ text: 'Hm.', reasoning: 'let me' });
  expect(answer.state()).toEqual({
    blocks: [{ thinking: 'let me', signature: 'sig==' }, { text: 3 }, { redacted: 'xyz' }, { call: 0 }],
  });
});

it('needs the stop event', () => {
  const answer = read(block(0, { type: 'text', text: 'x' }), stop('end_turn')[0]!);
  expect(answer.finished).toBe(false);
  answer.takeEvent({ type: 'message_stop' });
  expect(answer.finished).toBe(true);
});

it('ignores a repeated start and unknown events, and refuses two mixed answers', () => {
  const answer = read(start, { type: 'ping' }, { type: 'something_new' });
  expect(answer.takeEvent({ ...start, message: { id: 'm2' } })).toMatchObject({ type: 'malformed_answer' });
  expect(read().takeEvent(part(5, { type: 'text_delta', text: 'x' }))).toMatchObject({
    type: 'malformed_answer',
  });
});

it('finds an error inside the stream', () => {
  const event = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  expect(read().takeEvent(event)).toEqual({ type: 'overloaded_error', message: 'Overloaded', status: null });
});

import { AnthropicAnswer } from './anthropic-answer';
import { openAiRoute, request } from './fake-provider';
import { interruptedUsage, openAiUsage, settledUsage, worstCaseInput } from './token-usage';

const streamed = (start: object, delta: object): unknown => {
  const answer = new AnthropicAnswer();
  answer.takeEvent({ type: 'message_start', message: { id: 'm', usage: start } });
  answer.takeEvent({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: delta });
  return answer.usage;
};
const whole = (usage: object): unknown => {
  const answer = new AnthropicAnswer();
  answer.takeWhole({ id: 'm', content: [], stop_reason: 'end_turn', usage });
  return answer.usage;
};

describe('C34 usage that is reported twice is not counted twice (langchain-ai/langchainjs#10249)', () => {
  const fixtures: [string, object, object, object][] = [
    [
      'cumulative events',
      { input_tokens: 9, cache_read_input_tokens: 1, output_tokens: 1 },
      { input_tokens: 9, cache_read_input_tokens: 1, output_tokens: 16 },
      { input: 10, cached: 1, output: 16 },
    ],
    [
      'a vendor that corrects its input',
      { input_tokens: 8834 },
      { input_tokens: 18, cache_read_input_tokens: 8831, output_tokens: 426 },
      { input: 8849, cached: 8831, output: 426 },
    ],
  ];
  it.each(fixtures)('%s', (_, start, delta, total) => {
    expect(streamed(start, delta)).toEqual(total);
    expect(whole(delta)).toEqual(total);
  });

  it('an event that names output only, or zero input, leaves the input', () => {
    const start = { input_tokens: 25, cache_creation_input_tokens: 5, output_tokens: 1 };
    expect(streamed(start, { output_tokens: 7 })).toEqual({ input: 30, cached: 0, output: 7 });
    expect(streamed(start, { input_tokens: 0, output_tokens: 7 })).toEqual({
      input: 30,
      cached: 0,
      output: 7,
    });
  });
});

describe('chat-completions usage', () => {
  it.each([
    [
      'plain',
      { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
      { input: 10, output: 5, cached: 0 },
    ],
    [
      'cached and reasoning inside',
      {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 15,
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 3 },
      },
      { input: 10, output: 5, cached: 4 },
    ],
    [
      'reasoning apart (xAI)',
      {
        prompt_tokens: 12,
        completion_tokens: 2,
        total_tokens: 354,
        completion_tokens_details: { reasoning_tokens: 340 },
      },
      { input: 12, output: 342, cached: 0 },
    ],
    [
      'cache hits (DeepSeek)',
      { prompt_tokens: 10, completion_tokens: 1, prompt_cache_hit_tokens: 8 },
      { input: 10, output: 1, cached: 8 },
    ],
    ['none', null, null],
    ['nonsense', { prompt_tokens: -1 }, null],
  ])('%s', (_, usage, expected) => expect(openAiUsage(usage)).toEqual(expected));
});

describe('estimates are upper bounds', () => {
  const asked = request(openAiRoute('http://x'), {
    system: 'é',
    tools: [],
    messages: [
      { role: 'user', text: '北京' },
      {
        role: 'assistant',
        text: null,
        toolCalls: [{ callId: 'c1-0', tool: 'f', arguments: '{}' }],
        providerState: null,
        provider: null,
      },
    ],
  });
  it('bytes of all texts + 16 per message and call', () => {
    expect(worstCaseInput(asked)).toBe(2 + 16 + (6 + 16) + 16 + (1 + 2 + 16));
    expect(settledUsage(null, asked, 9)).toEqual({
      input: worstCaseInput(asked),
      output: 9,
      cached: 0,
      estimated: true,
    });
  });
  it('a broken answer books what was reported and what was delivered (C32)', () => {
    expect(interruptedUsage({ input: 25, output: 1, cached: 0 }, asked, 400)).toEqual({
      input: 25,
      output: 400,
      cached: 0,
      estimated: true,
    });
  });
  it('counts a growing dialog on from where it was', () => {
    const messages = [...asked.messages];
    const before = worstCaseInput({ ...asked, messages });
    messages.push({ role: 'tool', callId: 'c1-0', tool: 'f', text: 'ok' });
    expect(worstCaseInput({ ...asked, messages })).toBe(before + 18);
  });
});

it('believes no count that would make sums inexact', () => {
  const reported = openAiUsage({ prompt_tokens: 1e300, completion_tokens: Number.MAX_SAFE_INTEGER });
  expect(reported).toMatchObject({ input: 1e12, output: 1e12 });
});

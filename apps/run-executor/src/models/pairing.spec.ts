import fc from 'fast-check';
import { GO_ON, NO_RESULT, pairedHistory } from './pairing';
import type { ChatMessage } from './types';

const user = (text: string): ChatMessage => ({ role: 'user', text });
const result = (callId: string, text: string): ChatMessage => ({ role: 'tool', callId, tool: 'f', text });
const answer = (text: string | null, ...callIds: string[]): ChatMessage => ({
  role: 'assistant',
  text,
  toolCalls: callIds.map((callId) => ({ callId, tool: 'f', arguments: '{}' })),
  providerState: null,
  provider: null,
});
const resultsOf = (messages: ChatMessage[]): unknown[] =>
  pairedHistory(messages).flatMap((exchange) =>
    exchange.role === 'assistant' ? exchange.calls.map(({ id, result: text }) => [id, text]) : [],
  );

describe('C10 a history cut anywhere can be sent (aaif-goose/goose#2951)', () => {
  it('a call without result gets one that says so; the others keep theirs', () => {
    expect(resultsOf([user('a'), answer(null, 'c1-0', 'c1-1'), result('c1-0', 'A')])).toEqual([
      ['c1-0', 'A'],
      ['c1-1', NO_RESULT],
    ]);
  });
  it('results stand in call order, also those that came late or twice', () => {
    const messages = [
      user('a'),
      answer(null, 'c1-0', 'c1-1'),
      result('c1-1', 'B'),
      user('meanwhile'),
      result('c1-0', 'A'),
      result('c1-0', 'again'),
    ];
    expect(resultsOf(messages)).toEqual([
      ['c1-0', 'A'],
      ['c1-1', 'B'],
    ]);
    expect(pairedHistory(messages).map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  });
  it('results without their call are dropped, and a user speaks first and last', () => {
    expect(pairedHistory([result('c1-0', 'A'), answer('done')]).map(({ text }) => text)).toEqual([
      '[Earlier messages are left out.]',
      'done',
      GO_ON,
    ]);
    expect(pairedHistory([])).toHaveLength(1);
  });
});

it('C18 ids that repeat or that endpoints refuse become unique ones (huggingface/smolagents#2684)', () => {
  const messages = [
    user('a'),
    answer(null, 'c1-0', 'c1-0'),
    result('c1-0', 'A'),
    answer(null, 'c1-0', 'grep:3', ''),
    result('c1-0', 'B'),
  ];
  expect(resultsOf(messages).map((pair) => (pair as string[])[0])).toEqual([
    'c1-0',
    'c1-0_2',
    'c1-0_3',
    'grep_3',
    'call',
  ]);
});

it('C22 an empty turn is left out, a blank message gets a word (block/buzz#559)', () => {
  expect(pairedHistory([user(' '), answer(''), answer(null), answer(' \n'), user('b')])).toEqual([
    { role: 'user', text: '[empty message]' },
    { role: 'user', text: 'b' },
  ]);
});

const callId = fc.constantFrom('c1-0', 'c1-1', 'c2-0', 'x:y', '');
const anyMessage: fc.Arbitrary<ChatMessage> = fc.oneof(
  fc.string({ unit: 'binary' }).map(user),
  fc
    .tuple(fc.option(fc.string({ unit: 'binary' })), fc.array(callId, { maxLength: 3 }))
    .map(([text, ids]) => answer(text, ...ids)),
  fc.tuple(callId, fc.string({ unit: 'binary' })).map(([id, text]) => result(id, text)),
);

it('C10 property: every call has one result and every id is unique, whatever the history', () => {
  fc.assert(
    fc.property(fc.array(anyMessage), (messages) => {
      const exchanges = pairedHistory(messages);
      const ids = exchanges.flatMap((exchange) =>
        exchange.role === 'assistant' ? exchange.calls.map(({ id }) => id) : [],
      );
      expect(new Set(ids).size).toBe(ids.length);
      expect(exchanges[0]?.role).toBe('user');
      const last = exchanges.at(-1);
      expect(last?.role === 'user' || (last?.calls.length ?? 0) > 0).toBe(true);
    }),
  );
});

import { argumentsObject, argumentsText, sendable, sendableJson } from './sendable-text';

it('replaces lone surrogates and NUL visibly, and leaves pairs alone', () => {
  expect(sendable('a\ud800b\udc00c\0d🌍')).toBe('a\ufffdb\ufffdc\u2400d🌍');
  expect(sendableJson({ 'k\0': ['\udfff', 1, null, { x: 'ok' }] })).toEqual({
    'k\u2400': ['\ufffd', 1, null, { x: 'ok' }],
  });
});

describe('C17 arguments go back as something that every endpoint takes (openai/openai-agents-js#664)', () => {
  it.each([
    ['', '{}'],
    ['  ', '{}'],
    ['{}', '{}'],
    ['{ "n": 12345678901234567890 }', '{ "n": 12345678901234567890 }'],
    ['{"__proto__":{"a":1}}', '{"__proto__":{"a":1}}'],
    ['{"q"', '{"_raw":"{\\"q\\""}'],
    ['[1]', '{"_raw":"[1]"}'],
    ['null', '{"_raw":"null"}'],
    ['{"q":"a\0"}', '{"_raw":"{\\"q\\":\\"a␀\\"}"}'],
  ])('%j → %s', (given, sent) => {
    expect(argumentsText(given)).toBe(sent);
    expect(argumentsObject(given)).toEqual(JSON.parse(sent));
  });
});

import { Problem } from '@runyard/contracts';
import { fingerprintOf, idempotencyKeyOf } from './fingerprint';
import { preferredWait } from '../handlers/run-start';

describe('idempotency keys', () => {
  test.each([
    [undefined, undefined],
    ['abc', 'abc'],
    ['  abc ', 'abc'],
    ['"abc"', 'abc'],
    ['"a\\"b"', 'a"b'],
  ])('%j is %j', (header, key) => expect(idempotencyKeyOf(header)).toBe(key));

  test.each(['', '   ', 'x'.repeat(256), 'schlüssel', 'a\tb'])('%j is refused', (header) => {
    expect(() => idempotencyKeyOf(header)).toThrow(Problem);
  });

  test('fingerprints see through the order of members, and nothing else', () => {
    const request = {
      method: 'POST',
      path: '/v1/users',
      query: {},
      body: { a: 1, b: { c: [1, 2], d: null } },
    };
    expect(fingerprintOf({ ...request, body: { b: { d: null, c: [1, 2] }, a: 1 } })).toBe(
      fingerprintOf(request),
    );
    for (const other of [
      { ...request, path: '/v1/keys' },
      { ...request, body: { a: 1, b: { c: [2, 1], d: null } } },
      { ...request, body: undefined },
    ])
      expect(fingerprintOf(other)).not.toBe(fingerprintOf(request));
  });
});

describe('Prefer: wait', () => {
  test.each([
    [undefined, undefined],
    ['respond-async', undefined],
    ['wait=5', 5],
    ['respond-async, wait=7', 7],
    ['wait=100000', 60],
    ['wait=0', undefined],
    ['wait=-3', undefined],
    ['waiting=9', undefined],
  ])('%j waits %j seconds', (header, seconds) => expect(preferredWait(header, 60)).toBe(seconds));
});

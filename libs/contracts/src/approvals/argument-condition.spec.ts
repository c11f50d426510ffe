import type { Json } from '../json';
import { conditionHolds, sameJson, valueAt } from './argument-condition';
import { globMatches } from './globs';
import { groupKeyOf, templateRefusal } from './group-key';
import type { ArgumentCondition } from './permission.events';

/** What an allowing and a denying rule find. */
const both = (condition: ArgumentCondition, given: Json) => [
  conditionHolds(condition, given, 'strict'),
  conditionHolds(condition, given, 'wary'),
];

describe('paths', () => {
  const directories = ['/srv/data', 'notes/'];
  it.each([
    ['/srv/data', 'yes', 'yes'],
    ['/srv/data/a/b', 'yes', 'yes'],
    ['/srv//data/./a/', 'yes', 'yes'],
    ['/srv/x/../data/a', 'yes', 'yes'],
    ['/srv/database', 'no', 'unknown'],
    ['/srv/data/../secret', 'no', 'unknown'],
    ['/srv', 'no', 'unknown'],
    ['notes/a', 'yes', 'yes'],
    ['./notes/a', 'yes', 'yes'],
    ['notes/../secret', 'no', 'unknown'],
    ['../notes/a', 'no', 'unknown'],
    ['~/notes', 'no', 'unknown'],
    ['$HOME/notes', 'no', 'unknown'],
    ['/srv/data/%2e%2e/secret', 'no', 'unknown'],
    ['\\srv\\data', 'no', 'unknown'],
    ['C:/srv/data', 'no', 'unknown'],
    ['file:///srv/data', 'no', 'unknown'],
    ['/srv/data\u0000/x', 'no', 'unknown'],
    ['', 'no', 'unknown'],
    [7, 'no', 'unknown'],
  ] as const)('%j: %s and %s', (path, strict, wary) =>
    expect(both({ at: '/path', is: 'path_within', directories }, { path })).toEqual([strict, wary]),
  );

  it('is sure of an absolute path outside where only absolute directories are named', () => {
    expect(both({ at: '/path', is: 'path_within', directories: ['/etc'] }, { path: '/etcetera' })).toEqual([
      'no',
      'no',
    ]);
  });

  it('needs all of a list for allowing and one for denying', () => {
    const condition: ArgumentCondition = { at: '/paths', is: 'path_within', directories: ['/srv'] };
    expect(both(condition, { paths: ['/srv/a', '/srv/b'] })).toEqual(['yes', 'yes']);
    expect(both(condition, { paths: ['/srv/a', '/etc/b'] })).toEqual(['no', 'yes']);
    expect(both(condition, { paths: [] })).toEqual(['no', 'no']);
  });
});

describe('URLs', () => {
  const condition: ArgumentCondition = {
    at: '/url',
    is: 'url',
    hosts: ['example.com', '*.example.org', 'bücher.example'],
  };
  it.each([
    ['https://example.com/a?b', 'yes', 'yes'],
    ['HTTPS://EXAMPLE.com', 'yes', 'yes'],
    ['https://example.com./', 'yes', 'yes'],
    ['http://example.com', 'yes', 'yes'],
    ['https://a.example.org', 'yes', 'yes'],
    ['https://a.b.example.org', 'yes', 'yes'],
    ['https://example.org', 'no', 'no'],
    ['https://badexample.org', 'no', 'no'],
    ['https://a.example.com', 'no', 'no'],
    ['https://example.com.evil.net', 'no', 'no'],
    ['https://xn--bcher-kva.example', 'yes', 'yes'],
    ['https://BÜCHER.example', 'yes', 'yes'],
    ['https://example.com@evil.net/', 'no', 'no'],
    ['https://evil.net@example.com/', 'no', 'yes'],
    ['https://user:pw@example.com/', 'no', 'yes'],
    ['https://evil.net\\@example.com/', 'no', 'unknown'],
    ['https://example.com\\@evil.net/', 'no', 'yes'],
    ['https://example.com:8443/', 'no', 'yes'],
    ['https://example.com:443/', 'yes', 'yes'],
    ['https://example.com:80/', 'no', 'yes'],
    ['ftp://example.com/', 'no', 'yes'],
    ['//example.com/', 'no', 'unknown'],
    ['example.com/a', 'no', 'unknown'],
    ['javascript:alert(1)', 'no', 'unknown'],
    ['https://еxample.com/', 'no', 'no'],
    [' https://example.com/', 'no', 'yes'],
    ['https://exam\nple.com/', 'no', 'yes'],
    [null, 'no', 'unknown'],
  ] as const)('%j: %s and %s', (url, strict, wary) =>
    expect(both(condition, { url })).toEqual([strict, wary]),
  );

  it.each([
    ['http://2130706433/', 'yes'],
    ['http://0x7f.1/', 'yes'],
    ['http://127.0.0.1:8080/', 'yes'],
    ['http://127.0.0.2/', 'no'],
  ])('reads an address in every spelling: %s', (url, wary) =>
    expect(both({ at: '/url', is: 'url', hosts: ['127.0.0.1'] }, { url })[1]).toBe(wary),
  );

  it.each([
    ['https://a.net/v1', 'yes', 'yes'],
    ['https://a.net/v1/x', 'yes', 'yes'],
    ['https://a.net/v10', 'no', 'no'],
    ['https://a.net/v1/../x', 'no', 'no'],
    ['https://a.net/v1/%2e%2e/x', 'no', 'no'],
    ['https://a.net/v1/..%2fx', 'no', 'unknown'],
    ['https://a.net//v1', 'no', 'unknown'],
    ['http://a.net/v1', 'no', 'no'],
    ['https://a.net:9000/v1', 'yes', 'yes'],
    ['https://a.net:9001/v1', 'no', 'no'],
  ])('holds what it names of scheme, port and path: %s', (url, strict, wary) => {
    const wish: ArgumentCondition = {
      at: '/url',
      is: 'url',
      hosts: ['a.net'],
      schemes: ['https'],
      ports: [443, 9000],
      path: '/v1/',
    };
    expect(both(wish, { url })).toEqual([strict, wary]);
  });
});

describe('plain values', () => {
  it.each<[ArgumentCondition, Json, string, string]>([
    [{ at: '/a', is: 'present' }, { a: null }, 'yes', 'yes'],
    [{ at: '/a', is: 'absent' }, {}, 'yes', 'yes'],
    [{ at: '/a', is: 'equals', value: { x: 1, y: [2] } }, { a: { y: [2], x: 1 } }, 'yes', 'yes'],
    [{ at: '/a', is: 'equals', value: 1 }, { a: '1' }, 'no', 'no'],
    [{ at: '/a', is: 'one_of', values: ['x', 'y'] }, { a: 'y' }, 'yes', 'yes'],
    [{ at: '/a', is: 'like', pattern: 'INV-*' }, { a: 'INV-7' }, 'yes', 'yes'],
    [{ at: '/a', is: 'like', pattern: 'INV-*' }, { a: ['INV-7', 'x'] }, 'no', 'yes'],
    [{ at: '/a', is: 'like', pattern: 'INV-*' }, { a: 7 }, 'no', 'unknown'],
    [{ at: '/a', is: 'at_least', value: 100 }, { a: 100 }, 'yes', 'yes'],
    [{ at: '/a', is: 'at_most', value: 100 }, { a: 100.5 }, 'no', 'no'],
    [{ at: '/a', is: 'at_least', value: 100 }, { a: '5000' }, 'no', 'unknown'],
    [{ at: '/a', is: 'at_least', value: 100 }, {}, 'no', 'no'],
    [{ at: '/a/1/b', is: 'equals', value: 2 }, { a: [0, { b: 2 }] }, 'yes', 'yes'],
    [{ at: '/__proto__', is: 'present' }, {}, 'no', 'no'],
  ])('%j of %j: %s and %s', (condition, given, strict, wary) =>
    expect(both(condition, given)).toEqual([strict, wary]),
  );

  it('follows pointers with their escapes', () => {
    expect(valueAt({ 'a/b': { '~': 5 } }, '/a~1b/~0')).toBe(5);
    expect(valueAt([1], '/01')).toBeUndefined();
    expect(valueAt({ a: 1 }, '')).toEqual({ a: 1 });
    expect(sameJson([1, 2], { 0: 1, 1: 2 })).toBe(false);
  });

  it('compares patterns without becoming slow', () => {
    expect(globMatches('a*b*c', 'axbxc')).toBe(true);
    expect(globMatches('a*b*c', 'axcxb')).toBe(false);
    expect(globMatches('ab*ba', 'aba')).toBe(false);
    expect(globMatches(`${'*a'.repeat(200)}b`, 'a'.repeat(50_000))).toBe(false);
  });
});

describe('group keys', () => {
  it('are made of the arguments and never mixed up by punctuation', () => {
    expect(groupKeyOf('refund:{/customer}', { customer: 'c-7' })).toBe('refund:c-7');
    expect(groupKeyOf('{/a}:{/b}', { a: 'x:y', b: 'z' })).not.toBe(
      groupKeyOf('{/a}:{/b}', { a: 'x', b: 'y:z' }),
    );
    expect(groupKeyOf('{/n}', { n: 12 })).toBe('12');
    expect(groupKeyOf('{/n}', {})).toBeNull();
    expect(groupKeyOf('{/n}', { n: 'x'.repeat(400) })).toBeNull();
    expect(templateRefusal('a:{b}')).toContain('JSON Pointer');
    expect(templateRefusal('a:{/b')).toContain('brace');
    expect(templateRefusal('a:{/b}')).toBeUndefined();
  });
});

import type { JsonObject, ToolSource } from '@runyard/contracts';
import { fillRequest } from './request-template';

type HttpSource = Extract<ToolSource, { kind: 'http' }>;
const get: HttpSource = { kind: 'http', method: 'GET', url: 'https://api.example.com/users/{id}/orders' };

function fill(source: HttpSource, given: JsonObject, token?: string) {
  const filled = fillRequest(source, given, 'run-1:c1-0', token);
  if (!filled.ok) throw new Error(`${filled.code}: ${filled.text}`);
  return { ...filled.request, url: filled.request.url.href };
}

const fault = (source: HttpSource, given: JsonObject, token?: string): string => {
  const filled = fillRequest(source, given, 'k', token);
  return filled.ok ? `sent to ${filled.request.url.href}` : filled.code;
};

describe('placeholders', () => {
  it.each([
    ['a/b', '/users/a%2Fb/orders'],
    ['a?b#c', '/users/a%3Fb%23c/orders'],
    ['..%2f', '/users/..%252f/orders'],
    ['é 🟡', '/users/%C3%A9%20%F0%9F%9F%A1/orders'],
    ['\ud83d', '/users/%EF%BF%BD/orders'],
    ['x\0y', '/users/x%00y/orders'],
    [42, '/users/42/orders'],
    [true, '/users/true/orders'],
    ['...', '/users/.../orders'],
  ])('%j', (id, path) => {
    expect(fill(get, { id }).url).toBe(`https://api.example.com${path}`);
  });

  it.each([[''], ['.'], ['..'], [null], [['a']], [{ a: 1 }]])(
    '%j is refused: it would name another resource',
    (id) => {
      expect(fault(get, { id })).toBe('refused');
    },
  );
  it('a missing one is refused', () => {
    expect(fault(get, {})).toBe('refused');
    expect(fault({ ...get, url: 'https://api.example.com/{constructor}' }, {})).toBe('refused');
  });

  it.each([
    'https://{host}/x',
    'https://api.{region}.example.com/x',
    'http{s}://api.example.com/x',
    'https://api.example.com{rest}',
    'https://api.example.com:{port}/',
    'ftp://api.example.com/x',
    'https://user:pw@api.example.com/',
    'nowhere',
  ])('%s is misconfigured', (url) => {
    expect(
      fault({ ...get, url }, { host: 'evil.test', region: 'a', s: 's', rest: '.evil.test', port: 1 }),
    ).toBe('misconfigured');
  });

  it('dots that meet dots of the template cannot climb', () => {
    expect(fault({ ...get, url: 'https://api.example.com/a/.{x}' }, { x: './secret' })).toContain(
      '/a/..%2Fsecret',
    );
    expect(fault({ ...get, url: 'https://api.example.com/a/{x}{y}/b' }, { x: '%2e', y: '%2e' })).toContain(
      '%252e%252e',
    );
  });
});

describe('remaining arguments', () => {
  it('go to the query of GET and DELETE', () => {
    const { url, body } = fill(get, { id: 'a', q: 'x&y=z', tags: ['a', 'b'], filter: { n: 1 }, n: null });
    expect(url).toBe(
      'https://api.example.com/users/a/orders?q=x%26y%3Dz&tags=a&tags=b&filter=%7B%22n%22%3A1%7D&n=null',
    );
    expect(body).toBeUndefined();
  });
  it('go to the JSON body otherwise, whatever they hold', () => {
    const post: HttpSource = { ...get, method: 'POST' };
    const { body, headers } = fill(post, { id: 'a', note: 'x\u0000\ud83d', deep: { n: [1] } });
    expect(body).toBe('{"note":"x\\u0000\\ud83d","deep":{"n":[1]}}');
    expect(headers['content-type']).toBe('application/json');
  });
});

describe('headers', () => {
  it('carry the idempotency key and the credential', () => {
    const { headers } = fill({ ...get, headers: { 'X-Team': 'a', Accept: 'text/csv' } }, { id: 1 }, 's3cret');
    expect(headers).toMatchObject({
      'x-team': 'a',
      accept: 'text/csv',
      'idempotency-key': 'run-1:c1-0',
      authorization: 'Bearer s3cret',
    });
  });
  it.each([
    [{ Host: 'evil.test' }],
    [{ 'content-length': '1' }],
    [{ 'Transfer-Encoding': 'chunked' }],
    [{ 'idempotency-key': 'x' }],
    [{ authorization: 'Basic x' }],
    [{ 'x-a': 'a\r\nx-b: b' }],
    [{ 'x a': 'b' }],
  ])('%j is misconfigured', (headers) => {
    expect(fault({ ...get, headers: headers as Record<string, string> }, { id: 1 }, 'token')).toBe(
      'misconfigured',
    );
  });
});

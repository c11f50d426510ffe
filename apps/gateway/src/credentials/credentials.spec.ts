import { API_KEY_RANDOM_LENGTH, Problem, apiKeyOf, looksLikeApiKey } from '@runyard/contracts';
import { presented, requireRole } from './credential';
import type { Credential } from './credential';
import { KeyCache } from './key-cache';
import { credentialOf } from './token-verifier';

const KEY = apiKeyOf('a'.repeat(API_KEY_RANDOM_LENGTH));
const ORG = '11111111-1111-4111-8111-111111111111';
const USER = '22222222-2222-4222-8222-222222222222';
const refusal = (run: () => unknown): string => {
  try {
    run();
    return 'none';
  } catch (error) {
    return error instanceof Problem ? `${error.code}: ${error.message}` : String(error);
  }
};

describe('what a request presents', () => {
  test('is read from Authorization and X-API-Key alone', () => {
    expect(presented({ authorization: `Bearer ${KEY}` })).toEqual({ kind: 'key', key: KEY });
    expect(presented({ authorization: `bearer  ${KEY}` })).toEqual({ kind: 'key', key: KEY });
    expect(presented({ 'x-api-key': KEY })).toEqual({ kind: 'key', key: KEY });
    expect(presented({ authorization: 'Bearer a.b.c' })).toEqual({ kind: 'token', token: 'a.b.c' });
    expect(presented({ authorization: `Bearer ${KEY}`, 'x-api-key': KEY })).toEqual({
      kind: 'key',
      key: KEY,
    });
  });

  test.each([
    [{}, /is missing/],
    [{ authorization: 'Basic abc' }, /must be "Bearer/],
    [{ authorization: 'Bearer' }, /must be "Bearer/],
    [{ authorization: ['Bearer a', 'Bearer b'] }, /must be "Bearer/],
    [{ authorization: `Bearer ${KEY.slice(0, -1)}` }, /mistyped or cut/],
    [{ 'x-api-key': 'a.b.c' }, /does not hold an API key/],
    [{ authorization: 'Bearer a.b.c', 'x-api-key': KEY }, /two different/],
  ])('%j is refused', (headers, reason) => {
    expect(refusal(() => presented(headers))).toMatch(reason);
  });

  test('any one character that is wrong breaks the checksum of a key', () => {
    for (let at = 'ry_live_'.length; at < KEY.length; at++) {
      const other = KEY[at] === 'b' ? 'c' : 'b';
      expect(looksLikeApiKey(KEY.slice(0, at) + other + KEY.slice(at + 1))).toBe(false);
    }
  });

  test('a missing role is named with what is there', () => {
    const caller = { org: ORG, actor: `user:${USER}` as const, userId: USER, roles: ['member' as const] };
    expect(refusal(() => requireRole(caller, ['admin', 'operator']))).toBe(
      'forbidden: This needs one of the roles admin, operator; the credential has member',
    );
    expect(refusal(() => requireRole(caller, ['admin', 'member']))).toBe('none');
  });
});

describe('the cache of keys', () => {
  const credential = (org = ORG, expiresAt: number | null = null): Credential => ({
    id: 'key:k',
    caller: { org, actor: 'service:k', userId: null, roles: [] },
    expiresAt,
  });
  const options = { ttlMs: 1_000, settleMs: 100, maxEntries: 2 };

  test('believes an answer for its time to live, and no longer than the key holds', () => {
    const cache = new KeyCache(options);
    cache.put('a', credential(), 0, 10);
    cache.put('b', credential(ORG, 500), 0, 10);
    expect([cache.get('a', 1_009), cache.get('a', 1_010)]).toEqual([credential(), undefined]);
    expect([cache.get('b', 499) === undefined, cache.get('b', 500)]).toEqual([false, undefined]);
  });

  test('forgets an org at once when something changes there, and others not', () => {
    const cache = new KeyCache(options);
    cache.put('a', credential(), 0, 0);
    cache.put('b', credential('other'), 0, 0);
    cache.invalidate(ORG, 5);
    expect([cache.get('a', 6), cache.get('b', 6) === undefined]).toEqual([undefined, false]);
  });

  test('keeps no answer that was asked for before or right after a change', () => {
    const cache = new KeyCache(options);
    cache.invalidate(ORG, 50);
    cache.put('a', credential(), 40, 60);
    cache.put('b', credential(), 149, 160);
    expect([cache.get('a', 61), cache.get('b', 161)]).toEqual([undefined, undefined]);
    cache.put('c', credential(), 150, 160);
    expect(cache.get('c', 161)).toEqual(credential());
  });

  test('does not grow without bound', () => {
    const cache = new KeyCache(options);
    for (const hash of ['a', 'b', 'c']) cache.put(hash, credential(), 0, 0);
    expect(['a', 'b', 'c'].map((hash) => cache.get(hash, 1) !== undefined)).toEqual([false, true, true]);
  });
});

describe('claims of a token', () => {
  const claims = { org: 'org_id', user: 'sub', roles: 'realm.roles' };

  test('name org, user and the roles that mean something here', () => {
    const payload = {
      org_id: ORG.toUpperCase(),
      sub: USER,
      exp: 2,
      realm: { roles: ['admin', 'root', 'member'] },
    };
    expect(credentialOf(payload, claims)).toEqual({
      id: `user:${USER}`,
      caller: { org: ORG, actor: `user:${USER}`, userId: USER, roles: ['member', 'admin'] },
      expiresAt: 2_000,
    });
  });

  test('roles may be words in a text, and claims may have dots in their own names', () => {
    const payload = { 'https://x/org.id': ORG, sub: USER, scope: 'member openid' };
    expect(
      credentialOf(payload, { org: 'https://x/org.id', user: 'sub', roles: 'scope' }).caller.roles,
    ).toEqual(['member']);
  });

  test.each([
    [{ sub: USER }],
    [{ org_id: '>', sub: USER }],
    [{ org_id: ORG, sub: 'x' }],
    [{ org_id: ORG, sub: USER, realm: null }],
  ])('%j', (payload) => {
    const read = () => credentialOf(payload, claims);
    if ('realm' in payload) expect(read().caller.roles).toEqual([]);
    else expect(refusal(read)).toMatch(/^unauthenticated: The token's claim/);
  });
});

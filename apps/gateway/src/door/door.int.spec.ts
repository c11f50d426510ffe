import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request as httpRequest } from 'node:http';
import { SignJWT, exportJWK, generateKeyPair } from 'jose';
import { Problem, keyAggregate, subjectOf } from '@runyard/contracts';
import { eventually } from '@runyard/testing';
import { sha256 } from '../../e2e/fake-services';
import type { Actor } from '../../e2e/fake-services';
import { startHarness } from '../../e2e/harness';
import type { Harness } from '../../e2e/harness';

jest.setTimeout(120_000);

const ORG = '11111111-1111-4111-8111-111111111111';
const USER = '22222222-2222-4222-8222-222222222222';

let harness: Harness;
let member: Actor;
let admin: Actor;
let issue: (
  claims?: Record<string, unknown>,
  set?: { issuer?: string; audience?: string; expires?: string; alg?: 'RS256' | 'HS256' },
) => Promise<string>;
let closeIdentityProvider: () => Promise<void>;

beforeAll(async () => {
  const keys = await generateKeyPair('RS256', { extractable: true });
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'one', use: 'sig' };
  const server = createServer((_request, response) =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: [jwk] })),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closeIdentityProvider = () => new Promise((resolve) => server.close(() => resolve()));
  issue = (
    claims = {},
    { issuer = 'https://id.example', audience = 'runyard', expires = '5m', alg = 'RS256' } = {},
  ) =>
    new SignJWT({ org_id: ORG, realm: { roles: ['member', 'unrelated'] }, ...claims })
      .setProtectedHeader({ alg, kid: 'one' })
      .setSubject(USER)
      .setIssuer(issuer)
      .setAudience(audience)
      .setExpirationTime(expires)
      .sign(alg === 'HS256' ? Buffer.from(JSON.stringify(jwk)) : keys.privateKey);
  harness = await startHarness({
    tokens: {
      jwksUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`,
      issuer: 'https://id.example',
      audience: 'runyard',
      algorithms: ['RS256'],
      claims: { org: 'org_id', user: 'sub', roles: 'realm.roles' },
    },
  });
  member = harness.services.actor(ORG, ['member']);
  admin = harness.services.actor(ORG, ['admin']);
});
afterAll(async () => {
  await harness?.stop();
  await closeIdentityProvider?.();
});

const call = async (
  method: string,
  path: string,
  set: { actor?: Actor; headers?: Record<string, string>; body?: unknown; raw?: string } = {},
) => {
  const { actor, headers = {}, body, raw } = set;
  const text = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const answer = await fetch(harness.url + path, {
    method,
    body: text,
    headers: {
      ...(text === undefined ? {} : { 'content-type': 'application/json' }),
      ...(actor ? { authorization: `Bearer ${actor.key}` } : {}),
      ...headers,
    },
  });
  const content = await answer.text();
  return {
    status: answer.status,
    headers: answer.headers,
    json: (content.startsWith('{') ? JSON.parse(content) : {}) as Record<string, any>,
  };
};

describe('credentials', () => {
  test('an API key is taken from Authorization or X-API-Key, and names org, user and roles', async () => {
    const expected = {
      org_id: ORG,
      actor: `user:${member.userId}`,
      user_id: member.userId,
      roles: ['member'],
    };
    expect((await call('GET', '/v1/me', { actor: member })).json).toEqual(expected);
    expect((await call('GET', '/v1/me', { headers: { 'x-api-key': member.key } })).json).toEqual(expected);
  });

  test('without one the answer says what is missing and how to send it', async () => {
    const { status, headers, json } = await call('GET', '/v1/me');
    expect(status).toBe(401);
    expect(headers.get('content-type')).toMatch('application/problem+json');
    expect(headers.get('www-authenticate')).toMatch('Bearer');
    expect(json).toMatchObject({
      type: '/v1/problems/unauthenticated',
      code: 'unauthenticated',
      status: 401,
      instance: '/v1/me',
      retryable: false,
    });
    expect(json.detail).toMatch(/No credential was sent/);
  });

  test('a mistyped key is refused by its checksum without asking the registry', async () => {
    const before = harness.services.callsOf('keys.authenticate').length;
    const typo = member.key.slice(0, 20) + (member.key[20] === 'A' ? 'B' : 'A') + member.key.slice(21);
    const { status, json } = await call('GET', '/v1/me', { headers: { authorization: `Bearer ${typo}` } });
    expect([status, json.detail]).toEqual([401, expect.stringMatching(/checksum/)]);
    expect(harness.services.callsOf('keys.authenticate')).toHaveLength(before);
  });

  test('a key in the address opens nothing', async () => {
    expect((await call('GET', `/v1/me?api_key=${member.key}`)).status).toBe(401);
    expect((await call('GET', `/v1/me?access_token=${member.key}`, { actor: member })).status).toBe(400);
  });

  test('two different credentials are refused', async () => {
    expect((await call('GET', '/v1/me', { actor: member, headers: { 'x-api-key': admin.key } })).status).toBe(
      401,
    );
  });

  test('only the hash of a key is sent over the bus, and keys are in no log line', async () => {
    expect(harness.services.callsOf('keys.authenticate').map(({ input }) => input)).toContainEqual({
      hash: sha256(member.key),
    });
    await call('POST', '/v1/agents', { actor: member, raw: `{"x":"${member.key}"`, headers: {} });
    expect(JSON.stringify(harness.services.calls)).not.toContain(member.key);
    expect(harness.logged.join('')).not.toContain(member.key);
  });

  test('the registry is asked once, until something about people changes', async () => {
    const fresh = harness.services.actor(ORG, ['member']);
    const asked = () =>
      harness.services.callsOf('keys.authenticate').filter(({ input }) => input.hash === sha256(fresh.key))
        .length;
    await call('GET', '/v1/me', { actor: fresh });
    await call('GET', '/v1/me', { actor: fresh });
    expect(asked()).toBe(1);
    harness.services.keys.delete(sha256(fresh.key));
    const subject = subjectOf('people', ORG, keyAggregate(fresh.keyId));
    await harness.bus.log.append({
      subject,
      expected: 0,
      events: [{ type: 'ApiKeyRevoked', data: { keyId: fresh.keyId } }],
      meta: { actor: 'system:spec', source: 'agent-registry' },
    });
    await eventually(async () => (await call('GET', '/v1/me', { actor: fresh })).status === 401);
  });

  test('an expired key is refused', async () => {
    const old = harness.services.actor(ORG, ['member'], USER, { expires_at: '2020-01-01T00:00:00.000Z' });
    const { status, json } = await call('GET', '/v1/me', { actor: old });
    expect([status, json.detail]).toEqual([401, expect.stringMatching(/expired/)]);
  });

  test('a token of the identity provider is read by the configured claims', async () => {
    const { status, json } = await call('GET', '/v1/me', {
      headers: { authorization: `Bearer ${await issue()}` },
    });
    expect([status, json]).toEqual([
      200,
      { org_id: ORG, actor: `user:${USER}`, user_id: USER, roles: ['member'] },
    ]);
  });

  test.each([
    ['of another issuer', () => issue({}, { issuer: 'https://other.example' }), /"iss"/],
    ['for another audience', () => issue({}, { audience: 'other' }), /"aud"/],
    ['that has expired', () => issue({}, { expires: '-1m' }), /expired/],
    ['with another algorithm', () => issue({}, { alg: 'HS256' }), /algorithm/],
    ['without org', () => issue({ org_id: undefined }), /"org_id"/],
    ['with an org that is no UUID', () => issue({ org_id: '*' }), /"org_id"/],
    ['that is none', async () => 'abc.def.ghi', /neither/],
    [
      'without signature',
      async () =>
        `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(`{"org_id":"${ORG}"}`).toString('base64url')}.`,
      /algorithm|neither/,
    ],
  ])('a token %s is refused with the reason', async (_what, token, reason) => {
    const { status, json } = await call('GET', '/v1/me', {
      headers: { authorization: `Bearer ${await token()}` },
    });
    expect([status, json.detail]).toEqual([401, expect.stringMatching(reason)]);
  });

  test('a role that is missing is named', async () => {
    const { status, json } = await call('PUT', '/v1/platform-prompt', {
      actor: member,
      body: { prompt: 'x' },
    });
    expect(status).toBe(403);
    expect(json).toMatchObject({ code: 'forbidden', required_roles: ['admin'], roles: ['member'] });
    expect(harness.services.callsOf('platform_prompt.set')).toEqual([]);
  });
});

describe('refusals', () => {
  const agent = { agent_id: 'helper', name: 'Helper', prompt: 'Help.' };

  test('every field that is wrong, missing or unknown is named', async () => {
    const { status, json } = await call('POST', '/v1/agents', {
      actor: member,
      body: { agent_id: 'UPPER', prompt: 3, colour: 'red' },
    });
    expect(status).toBe(400);
    expect(json.errors.map((error: { pointer: string }) => error.pointer).sort()).toEqual([
      '/agent_id',
      '/colour',
      '/name',
      '/prompt',
    ]);
    expect(json.code).toBe('invalid_request');
  });

  test('a body that contradicts the path is refused (C63, mastra-ai/mastra#22575)', async () => {
    const { status, json } = await call('PATCH', '/v1/agents/one', {
      actor: member,
      body: { agent_id: 'two', name: 'x' },
    });
    expect([status, json.errors]).toEqual([
      400,
      [{ pointer: '/agent_id', detail: 'says something else than the path' }],
    ]);
  });

  test.each([
    ['malformed JSON', { raw: '{"a":' }, 400, 'malformed_json'],
    ['an array', { raw: '[]' }, 400, 'invalid_request'],
    ['a prototype', { raw: '{"__proto__":{"x":1}}' }, 400, 'malformed_json'],
    [
      'another content type',
      { raw: 'a=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      415,
      'unsupported_media_type',
    ],
    ['text', { raw: 'hello', headers: { 'content-type': 'text/plain' } }, 415, 'unsupported_media_type'],
    [
      'too large a body',
      { raw: JSON.stringify({ ...agent, description: 'x'.repeat(2_100_000) }) },
      413,
      'payload_too_large',
    ],
    ['no body', {}, 400, 'invalid_request'],
  ])('%s', async (_what, set, status, code) => {
    const answer = await call('POST', '/v1/agents', { actor: member, ...set });
    expect([answer.status, answer.json.code]).toEqual([status, code]);
    expect(JSON.stringify(answer.json)).not.toMatch(/\bat .*\.(js|ts)|FST_|stack/);
  });

  test('an unknown path is 404, a known one with another method 405 with what is offered', async () => {
    expect((await call('GET', '/v1/nothing', { actor: member })).json.code).toBe('not_found');
    const { status, headers } = await call('DELETE', '/v1/runs', { actor: member });
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
    expect((await call('PUT', '/v1/agents/x')).status).toBe(405);
  });

  test('a malformed address is a problem too', async () => {
    expect((await call('GET', '/v1/agents/%E0%A4%A', { actor: member })).json).toMatchObject({
      code: 'invalid_request',
      status: 400,
    });
    expect((await call('GET', `/v1/runs/${'x'.repeat(300)}`, { actor: member })).status).toBe(400);
  });

  test('a body of somebody unknown is refused before it is read', async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const url = new URL(`${harness.url}/v1/agents`);
      const request = httpRequest(
        {
          host: url.hostname,
          port: url.port,
          path: url.pathname,
          method: 'POST',
          headers: { 'content-type': 'application/json', 'content-length': '1000000' },
        },
        (answer) => {
          resolve(answer.statusCode);
          request.destroy();
        },
      );
      request.on('error', reject);
      request.flushHeaders();
    });
    expect(status).toBe(401);
  });

  test('a defect is answered without a word about it, and logged under its request id', async () => {
    harness.services.on('orgs.get', () => {
      throw new Problem('internal', 'column "secret" does not exist');
    });
    const { status, json } = await call('GET', '/v1/org', {
      actor: member,
      headers: { 'x-request-id': 'request-12345678' },
    });
    expect(status).toBe(500);
    expect(JSON.stringify(json)).not.toContain('secret');
    expect(json.request_id).toBe('request-12345678');
    expect(harness.logged.some((line) => line.includes('request-12345678') && line.includes('secret'))).toBe(
      true,
    );
  });

  test('what a problem means can be read at its type', async () => {
    const { json } = await call('GET', '/v1/me');
    const page = await call('GET', json.type as string);
    expect([page.status, page.json.code, page.json.remedy]).toEqual([
      200,
      'unauthenticated',
      expect.stringMatching(/X-API-Key/),
    ]);
    expect((await call('GET', '/v1/problems/toString')).status).toBe(404);
  });
});

describe('answers', () => {
  const row = { agent_id: 'helper', etag: '3.1', position: '17.0' };

  test('pass on what the service says, as the caller', async () => {
    harness.services.on('agents.get', () => row);
    const next = '2026-12-01T05:00:00.000Z';
    const runs = { data: [{ agent_id: 'helper', next_run_at: next }] };
    harness.services.on('schedules.next_runs', () => runs);
    const { status, json, headers } = await call('GET', '/v1/agents/helper?at_least=17.0', { actor: member });
    expect([status, json]).toEqual([200, { ...row, next_run_at: next }]);
    expect(harness.services.callsOf('schedules.next_runs').at(-1)?.input).toEqual({
      agent_ids: ['helper'],
      at_least: '17.0',
    });
    expect(headers.get('etag')).toBe('"3.1"');
    expect(harness.services.callsOf('agents.get').at(-1)).toMatchObject({
      input: { agent_id: 'helper', at_least: '17.0' },
      caller: { org: ORG, userId: member.userId, roles: ['member'] },
    });
  });

  test('leave out when an agent runs next where the scheduler cannot be asked: null would say that it never does', async () => {
    harness.services.on('agents.get', () => row);
    harness.services.on('schedules.next_runs', () => {
      throw new Problem('unavailable', 'scheduler is not running; try again shortly');
    });
    expect((await call('GET', '/v1/agents/helper', { actor: member })).json).toEqual(row);
    harness.services.on('schedules.next_runs', () => ({ data: [] }));
    expect((await call('GET', '/v1/agents/helper', { actor: member })).json).toEqual({
      ...row,
      next_run_at: null,
    });
  });

  test('If-Match reaches the service, and a version that is gone is 412', async () => {
    harness.services.on('agents.update', (_caller, { if_match }) => {
      if (if_match !== '3.1') throw new Problem('version_mismatch', 'It was changed in the meantime');
      return { ...row, etag: '3.2' };
    });
    const patch = (match: string) =>
      call('PATCH', '/v1/agents/helper', {
        actor: member,
        body: { name: 'New' },
        headers: { 'if-match': match },
      });
    expect((await patch('"3.1"')).headers.get('etag')).toBe('"3.2"');
    expect(await patch('"2.9"')).toMatchObject({ status: 412, json: { code: 'version_mismatch' } });
  });

  test('lists name their next page', async () => {
    harness.services.on('runs.list', () => ({ data: [], next_cursor: 'a+b/c' }));
    const { headers } = await call('GET', '/v1/runs?limit=2&state=failed', { actor: member });
    expect(headers.get('link')).toBe('</v1/runs?limit=2&state=failed&cursor=a%2Bb%2Fc>; rel="next"');
    expect(harness.services.callsOf('runs.list').at(-1)?.input).toEqual({ limit: 2, state: 'failed' });
  });

  test('creation is 201 with the address of what was made', async () => {
    harness.services.on('agents.create', () => row);
    const { status, headers } = await call('POST', '/v1/agents', {
      actor: member,
      body: { agent_id: 'helper', name: 'Helper', prompt: 'Help.' },
    });
    expect([status, headers.get('location')]).toEqual([201, '/v1/agents/helper']);
  });

  test('carry security headers, the rate and the request id, refusals included', async () => {
    for (const { headers } of [await call('GET', '/v1/me', { actor: member }), await call('GET', '/v1/me')]) {
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toMatch("default-src 'none'");
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
      expect(headers.get('cache-control')).toBe('no-store');
    }
    const { headers } = await call('GET', '/v1/me', { actor: member });
    expect(headers.get('ratelimit-policy')).toBe('"default";q=1200;w=60');
    expect(headers.get('ratelimit')).toMatch(/^"default";r=\d+;t=\d+$/);
  });

  test('a service that is not there is 503 with Retry-After', async () => {
    harness.services.on('agents.list', () => {
      throw new Problem('unavailable', 'agent-registry is not running', { retryAfterSeconds: 3 });
    });
    const { status, headers, json } = await call('GET', '/v1/agents', { actor: member });
    expect([status, headers.get('retry-after'), json.retryable]).toEqual([503, '3', true]);
  });

  test('HEAD is GET without the body', async () => {
    harness.services.on('agents.get', () => row);
    const answer = await fetch(`${harness.url}/v1/agents/helper`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${member.key}` },
    });
    expect([answer.status, answer.headers.get('etag'), await answer.text()]).toEqual([200, '"3.1"', '']);
  });

  test('liveness, readiness and metrics answer on the operations port', async () => {
    const ops = `http://127.0.0.1:${harness.gateway.opsPort}`;
    expect((await fetch(`${ops}/live`)).status).toBe(200);
    await eventually(async () => (await fetch(`${ops}/ready`)).status === 200);
    const lines = (await (await fetch(`${ops}/metrics`)).text())
      .split('\n')
      .filter((line) => line.startsWith('runyard_http_seconds_count'));
    expect(lines).toContainEqual(expect.stringMatching(/route="me".*status="200"/));
    expect(lines).toContainEqual(expect.stringMatching(/route="me".*status="401"/));
  });
});

describe('the rate limit', () => {
  test('holds per credential and says when to come back', async () => {
    await using tight = await startHarness({ rate: { quota: 3, windowSeconds: 60 } });
    const one = tight.services.actor(ORG, ['member']);
    const other = tight.services.actor(ORG, ['member']);
    const ask = (actor: Actor) => fetch(`${tight.url}/v1/me`, { headers: { 'x-api-key': actor.key } });
    for (let n = 0; n < 3; n++) expect((await ask(one)).status).toBe(200);
    const refused = await ask(one);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.headers.get('ratelimit')).toMatch(/r=0/);
    expect((await ask(other)).status).toBe(200);
  });
});

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { JsonObject, ToolSource } from '@runyard/contracts';
import type { ToolCall, ToolResult } from '../types';
import { runHttp, type HttpTools } from './http.adapter';

jest.setTimeout(120_000);

type HttpSource = Extract<ToolSource, { kind: 'http' }>;
type Handler = (request: IncomingMessage & { text: string }, response: ServerResponse) => void;

// Two addresses of this machine: .2 stands for the public internet, .1 for what nobody may reach.
const OUTSIDE = '127.0.0.2';
let outside: Server;
let forbidden: TcpServer;
let handler: Handler;
let received: (IncomingMessage & { text: string })[];
let forbiddenConnections: number;

const portOf = (server: TcpServer): number => (server.address() as AddressInfo).port;
const at = (path: string) => `http://${OUTSIDE}:${portOf(outside)}${path}`;

beforeAll(async () => {
  outside = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const whole = Object.assign(request, { text });
      received.push(whole);
      handler(whole, response);
    });
  });
  forbidden = createTcpServer((socket) => {
    forbiddenConnections += 1;
    socket.on('error', () => {});
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecret');
  });
  await Promise.all([
    once(outside.listen(0, OUTSIDE), 'listening'),
    once(forbidden.listen(0, '127.0.0.1'), 'listening'),
  ]);
});
afterAll(async () => {
  outside.closeAllConnections();
  await Promise.all([once(outside.close(), 'close'), once(forbidden.close(), 'close')]);
});
beforeEach(() => {
  received = [];
  forbiddenConnections = 0;
  handler = (_, response) => response.end('ok');
});

const rules: HttpTools = {
  allowedHosts: ['*'],
  allowPrivate: [`${OUTSIDE}/32`],
  maxBytes: 1024 * 1024,
  secrets: (_org, name) => (name === 'token' ? 's3cret-value' : undefined),
  now: () => Date.parse('2026-01-01T00:00:00Z'),
};

interface Overrides {
  given?: JsonObject;
  timeoutMs?: number;
  signal?: AbortSignal;
}

function run(
  source: Partial<HttpSource> & { url: string },
  tools: Partial<HttpTools> = {},
  overrides: Overrides = {},
): Promise<ToolResult> {
  const whole: HttpSource = { kind: 'http', method: 'GET', ...source };
  const call: ToolCall = {
    org: 'org',
    runId: 'run',
    conversationId: null,
    callId: 'c1-0',
    ownerId: 'owner',
    tool: {
      name: 'fetch',
      description: '',
      inputSchema: {},
      effect: 'write',
      idempotent: false,
      source: whole,
      timeoutMs: overrides.timeoutMs ?? 3_000,
      endsRun: false,
    },
    arguments: overrides.given ?? {},
    position: 0,
    idempotencyKey: 'run:c1-0',
    signal: overrides.signal ?? new AbortController().signal,
  };
  return runHttp(call, whole, { ...rules, ...tools });
}

const redirect =
  (location: string, status = 302): Handler =>
  (_, response) =>
    response.writeHead(status, { location }).end();

describe('C64 every hop is resolved, checked and pinned; nothing internal is reached (bigduu/Bamboo-agent#231)', () => {
  afterEach(() => expect(forbiddenConnections).toBe(0));

  it('a redirect to an internal address', async () => {
    handler = redirect(`http://127.0.0.1:${portOf(forbidden)}/`);
    expect(await run({ url: at('/') })).toMatchObject({
      ok: false,
      code: 'refused',
      effect: 'none',
      text: expect.stringContaining('loopback'),
    });
    handler = redirect('http://169.254.169.254/latest/meta-data');
    expect(await run({ url: at('/') })).toMatchObject({
      ok: false,
      code: 'refused',
      text: expect.stringContaining('linkLocal'),
    });
  });

  it('a second answer of the resolver that differs', async () => {
    let asked = 0;
    const resolver = async () => (asked++ === 0 ? [OUTSIDE] : ['127.0.0.1']);
    const host = `http://rebinding.test:${portOf(outside)}/`;
    expect(await run({ url: host }, { resolver })).toEqual({ ok: true, text: 'ok' });
    expect(asked).toBe(1);
    expect(await run({ url: host }, { resolver })).toMatchObject({ ok: false, code: 'refused' });
  });

  it('a name with a good and a bad address', async () => {
    const resolver = async () => [OUTSIDE, '127.0.0.1'];
    expect(await run({ url: `http://both.test:${portOf(forbidden)}/` }, { resolver })).toMatchObject({
      ok: false,
      code: 'refused',
    });
  });

  it('a redirect by name, resolved anew for its hop', async () => {
    const resolver = async (host: string) => (host === 'good.test' ? [OUTSIDE] : ['127.0.0.1']);
    handler = redirect(`http://bad.test:${portOf(forbidden)}/`);
    expect(await run({ url: `http://good.test:${portOf(outside)}/` }, { resolver })).toMatchObject({
      ok: false,
      code: 'refused',
    });
    expect(received).toHaveLength(1);
  });

  it.each([
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[64:ff9b::127.0.0.1]',
    '[2002:7f00:1::]',
    '2130706433',
    '0x7f.0.0.1',
    '0x7f000001',
    '0177.0.0.1',
    '127.1',
    '127.0.0.1.',
    'localhost',
    'localhost.',
    'LOCALHOST',
    '１２７.０.０.１',
    '[::1]',
    '0.0.0.0',
    '100.64.0.1',
    '[fd00::1]',
    '169.254.169.254',
  ])('http://%s/', async (host) => {
    expect(await run({ url: `http://${host}:${portOf(forbidden)}/` })).toMatchObject({
      ok: false,
      code: 'refused',
      effect: 'none',
      transient: false,
    });
  });

  it.each(['gateway', 'nats', 'postgres.internal'])("the deployment's own host %s", async (host) => {
    const resolver = async () => ['10.0.3.7'];
    expect(await run({ url: `http://${host}:4222/` }, { resolver })).toMatchObject({
      code: 'refused',
      text: expect.stringContaining('private'),
    });
    expect(
      await run({ url: `http://${host}:4222/` }, { resolver, allowedHosts: ['api.example.com'] }),
    ).toMatchObject({
      code: 'refused',
      text: expect.stringContaining('not on the list'),
    });
  });

  it.each([
    ['api.example.com', ['api.example.com'], true],
    ['API.example.com.', ['api.example.com'], true],
    ['a.example.com', ['*.example.com'], true],
    ['example.com', ['*.example.com'], false],
    ['evilexample.com', ['*.example.com'], false],
    ['api.example.com.evil.test', ['api.example.com', '*.example.com'], false],
    [OUTSIDE, ['*.0.0.2', '*.2'], false],
    [OUTSIDE, [OUTSIDE], true],
  ])('host %s with the list %j: %s', async (host, allowedHosts, allowed) => {
    const result = await run(
      { url: `http://${host}:${portOf(outside)}/` },
      { allowedHosts, resolver: async () => [OUTSIDE] },
    );
    expect(result.ok).toBe(allowed);
  });

  it('a body without end is read up to the cap, plain or packed', async () => {
    let written = 0;
    handler = (_, response) => {
      const block = Buffer.alloc(64 * 1024, 'a');
      const pump = () => {
        while (!response.destroyed && written < 1024 ** 3) {
          written += block.length;
          if (!response.write(block)) return response.once('drain', pump);
        }
        return undefined;
      };
      response.writeHead(200, { 'content-type': 'text/plain' });
      pump();
    };
    const result = await run({ url: at('/') }, { maxBytes: 100_000 });
    expect(result).toMatchObject({ ok: false, code: 'too_large', effect: 'none' });
    expect(result.text.length).toBeLessThan(101_000);
    expect(written).toBeLessThan(64 * 1024 ** 2);

    const bomb = gzipSync(Buffer.alloc(20 * 1024 ** 2, 'b'));
    handler = (_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'text/plain' }).end(bomb);
    expect(await run({ url: at('/') }, { maxBytes: 100_000 })).toMatchObject({
      ok: false,
      code: 'too_large',
    });
  });
});

describe('redirects', () => {
  it('are followed, at most five', async () => {
    handler = (request, response) => {
      const n = Number(request.url?.slice(1));
      if (n === 5) response.end('there');
      else response.writeHead(302, { location: `/${n + 1}` }).end();
    };
    expect(await run({ url: at('/0') })).toEqual({ ok: true, text: 'there' });
    handler = redirect('/again');
    expect(await run({ url: at('/') })).toMatchObject({
      ok: false,
      code: 'refused',
      text: expect.stringContaining('more than 5'),
    });
  });

  it.each([
    [301, 'POST', 'GET', ''],
    [302, 'POST', 'GET', ''],
    [303, 'PUT', 'GET', ''],
    [302, 'PUT', 'PUT', '{"a":1}'],
    [307, 'POST', 'POST', '{"a":1}'],
    [308, 'PATCH', 'PATCH', '{"a":1}'],
  ] as const)('%i after %s becomes %s', async (status, method, then, text) => {
    handler = (request, response) =>
      request.url === '/' ? redirect('/next', status)(request, response) : response.end('ok');
    await run({ url: at('/'), method }, {}, { given: { a: 1 } });
    expect(received.map((request) => [request.url, request.method, request.text])).toEqual([
      ['/', method, '{"a":1}'],
      ['/next', then, text],
    ]);
  });

  it('drop credentials on another origin, and never take them up again', async () => {
    const resolver = async () => [OUTSIDE];
    const [a, b] = ['a.test', 'b.test'].map((host) => `http://${host}:${portOf(outside)}`);
    handler = (request, response) => {
      if (request.url === '/1') return redirect(`${a}/2`)(request, response);
      if (request.url === '/2') return redirect(`${b}/3`)(request, response);
      return request.url === '/3' ? redirect(`${a}/4`)(request, response) : response.end('ok');
    };
    await run({ url: `${a}/1`, credential: 'token', headers: { 'x-api-key': 'k' } }, { resolver });
    expect(received.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer s3cret-value',
      'Bearer s3cret-value',
      undefined,
      undefined,
    ]);
    expect(received.map(({ headers }) => headers['x-api-key'])).toEqual(['k', 'k', undefined, undefined]);
    expect(received.map(({ headers }) => headers['idempotency-key'])).toEqual(Array(4).fill('run:c1-0'));
  });

  it('what fails after a write was carried out is uncertain, not unsent', async () => {
    handler = redirect('http://127.0.0.1:1/', 303);
    expect(await run({ url: at('/'), method: 'POST' })).toMatchObject({
      ok: false,
      code: 'connection',
      effect: 'unknown',
    });
    handler = redirect('http://127.0.0.1:1/', 307);
    expect(await run({ url: at('/'), method: 'POST' })).toMatchObject({
      ok: false,
      code: 'refused',
      effect: 'none',
    });
  });
});

describe('answers', () => {
  it.each([400, 404, 500])("HTTP %i is the tool's own error: it answered", async (status) => {
    handler = (_, response) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end('{"error":"no such order"}');
    expect(await run({ url: at('/'), method: 'POST' })).toMatchObject({
      ok: false,
      code: 'tool_error',
      effect: 'none',
      transient: status === 500,
      text: expect.stringContaining('{"error":"no such order"}'),
    });
  });

  it('Retry-After in seconds and as a date', async () => {
    handler = (_, response) => response.writeHead(429, { 'retry-after': '7' }).end();
    expect(await run({ url: at('/') })).toMatchObject({ transient: true, retryAfterMs: 7_000 });
    handler = (_, response) =>
      response.writeHead(503, { 'retry-after': 'Thu, 01 Jan 2026 00:00:10 GMT' }).end();
    expect(await run({ url: at('/') })).toMatchObject({ retryAfterMs: 10_000 });
  });

  it('of other kinds than text are told, not shown', async () => {
    handler = (_, response) => response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.alloc(10));
    expect(await run({ url: at('/') })).toEqual({ ok: true, text: '[binary content, image/png, 10 bytes]' });
    handler = (_, response) => response.writeHead(204).end();
    expect(await run({ url: at('/') })).toEqual({ ok: true, text: '(HTTP 204, no content)' });
    handler = (_, response) =>
      response.writeHead(200, { 'content-type': 'text/plain; charset=latin1' }).end(Buffer.from([0xe9]));
    expect(await run({ url: at('/') })).toEqual({ ok: true, text: 'é' });
    handler = (_, response) =>
      response.writeHead(200, { 'content-type': 'text/plain' }).end(Buffer.from([0x61, 0xff, 0x00]));
    expect(await run({ url: at('/') })).toEqual({ ok: true, text: 'a\ufffd\0' });
  });

  it('that echo the credential do not carry it into the log', async () => {
    handler = (request, response) =>
      response
        .writeHead(200, { 'content-type': 'text/plain' })
        .end(`you sent ${request.headers.authorization}`);
    expect(await run({ url: at('/'), credential: 'token' })).toEqual({
      ok: true,
      text: 'you sent Bearer [secret token]',
    });
    expect(await run({ url: at('/'), credential: 'other' })).toMatchObject({
      ok: false,
      code: 'misconfigured',
      text: expect.stringContaining('"other"'),
    });
  });
});

describe('sent or not sent (P4.1)', () => {
  it('a refused connection and an unknown name precede sending', async () => {
    const free = createTcpServer();
    await once(free.listen(0, OUTSIDE), 'listening');
    const port = portOf(free);
    await once(free.close(), 'close');
    expect(await run({ url: `http://${OUTSIDE}:${port}/` })).toMatchObject({
      code: 'not_sent',
      effect: 'none',
      transient: true,
    });
    const resolver = async () => Promise.reject(new Error('ENOTFOUND'));
    expect(await run({ url: 'http://nowhere.test/' }, { resolver })).toMatchObject({
      code: 'not_sent',
      effect: 'none',
      transient: true,
    });
    const mute = () => new Promise<string[]>(() => {});
    expect(await run({ url: 'http://slow.test/' }, { resolver: mute }, { timeoutMs: 50 })).toMatchObject({
      code: 'not_sent',
      effect: 'none',
    });
  });

  it('a reset after sending leaves the effect unknown', async () => {
    handler = (request) => request.socket.destroy();
    expect(await run({ url: at('/'), method: 'POST' })).toMatchObject({
      code: 'connection',
      effect: 'unknown',
      transient: true,
    });
    handler = (request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half');
      setImmediate(() => request.socket.destroy());
    };
    expect(await run({ url: at('/'), method: 'POST' })).toMatchObject({
      code: 'connection',
      effect: 'unknown',
    });
    expect(received).toHaveLength(2);
  });

  it('a call that is already cancelled is not sent', async () => {
    expect(await run({ url: at('/') }, {}, { signal: AbortSignal.abort() })).toMatchObject({
      code: 'cancelled',
      effect: 'none',
    });
    expect(received).toHaveLength(0);
  });
});

describe('C28 a time-out aborts the request instead of racing it (TulipFarm/tulipfarm#181)', () => {
  const slow =
    (aborted: () => void): Handler =>
    (request, response) => {
      request.socket.once('close', aborted);
      // Answers only when somebody still listens, long after the tool's time-out.
      setTimeout(() => response.end('late'), 60_000).unref();
    };

  it('exactly one request, its end seen by the server, and an unknown effect', async () => {
    const aborted = new Promise<void>((resolve) => (handler = slow(resolve)));
    const result = await run({ url: at('/'), method: 'POST' }, {}, { timeoutMs: 1_000 });
    expect(result).toMatchObject({ ok: false, code: 'timeout', effect: 'unknown', transient: true });
    await aborted;
    expect(received).toHaveLength(1);
  });

  it('a cancel does the same', async () => {
    const cancel = new AbortController();
    const aborted = new Promise<void>((resolve) => {
      const answer = slow(resolve);
      handler = (request, response) => {
        answer(request, response);
        cancel.abort();
      };
    });
    const result = await run({ url: at('/'), method: 'POST' }, {}, { signal: cancel.signal });
    expect(result).toMatchObject({ ok: false, code: 'cancelled', effect: 'unknown', transient: false });
    await aborted;
    expect(received).toHaveLength(1);
  });

  it('a body that stalls counts as no answer', async () => {
    handler = (_, response) => void response.writeHead(200).write('begin');
    expect(await run({ url: at('/') }, {}, { timeoutMs: 1_000 })).toMatchObject({
      code: 'timeout',
      effect: 'unknown',
    });
  });
});

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import type { JsonObject, McpServer } from '@runyard/contracts';
import { createToolRunner } from '../tool-runner';
import type { ToolCall, ToolRunner } from '../types';

jest.setTimeout(120_000);

const everything = require.resolve('@modelcontextprotocol/server-everything/dist/index.js');
let runner: ToolRunner;

beforeEach(() => {
  runner = createToolRunner({
    secrets: (_org, name) => (name === 'mcp-token' ? 's3cret-value' : undefined),
    recordings: async () => undefined,
    http: {
      allowedHosts: ['127.0.0.1', 'inside.test'],
      allowPrivate: true,
      resolver: async () => ['10.9.9.9', '169.254.169.254'],
    },
    mcp: { stdioCommands: [] },
    now: Date.now,
    log: { info: () => {}, warn: () => {} },
  });
});
afterEach(() => runner.close());

function call(
  url: string,
  tool: string,
  given: JsonObject = {},
  overrides: { timeoutMs?: number; signal?: AbortSignal } = {},
) {
  const server: McpServer = { name: 'remote', transport: 'http', url, credential: 'mcp-token' };
  const whole: ToolCall = {
    org: 'org',
    runId: 'run',
    conversationId: null,
    callId: 'c1-0',
    ownerId: 'owner',
    tool: {
      name: tool,
      description: '',
      inputSchema: {},
      effect: 'write',
      idempotent: false,
      source: { kind: 'mcp', server, tool },
      timeoutMs: overrides.timeoutMs ?? 20_000,
      endsRun: false,
    },
    arguments: given,
    position: 0,
    idempotencyKey: 'run:c1-0',
    signal: overrides.signal ?? new AbortController().signal,
  };
  return runner.run(whole);
}

async function freePort(): Promise<number> {
  const server = createTcpServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}

async function listening(port: number): Promise<void> {
  for (const end = Date.now() + 60_000; ; await new Promise((resolve) => setTimeout(resolve, 25))) {
    const socket = connect(port, '127.0.0.1');
    const up = await new Promise<boolean>((resolve) =>
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false)),
    );
    socket.destroy();
    if (up) return;
    if (Date.now() > end) throw new Error('the server never listened');
  }
}

describe('the reference server over streamable HTTP', () => {
  let port: number;
  let server: ChildProcess;
  const url = () => `http://127.0.0.1:${port}/mcp`;

  const start = async () => {
    server = spawn(process.execPath, [everything, 'streamableHttp'], {
      env: { ...process.env, PORT: String(port) },
      stdio: 'ignore',
    });
    await listening(port);
  };
  const kill = async () => {
    const ended = once(server, 'exit');
    server.kill('SIGKILL');
    await ended;
  };
  beforeAll(async () => {
    port = await freePort();
    await start();
  });
  afterAll(kill);

  it('answers, lists its tools and reports progress', async () => {
    expect(await call(url(), 'echo', { message: 'hé 🟡' })).toEqual({ ok: true, text: 'Echo: hé 🟡' });
    const found = await runner.discover(
      'org',
      { name: 'remote', transport: 'http', url: url() },
      new AbortController().signal,
    );
    expect(found.ok && found.tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['echo', 'get-sum']),
    );
    expect(
      await call(url(), 'trigger-long-running-operation', { duration: 3, steps: 6 }, { timeoutMs: 2_500 }),
    ).toMatchObject({ ok: true });
  });

  it('a time-out leaves the effect unknown, and the next call works', async () => {
    await call(url(), 'echo', { message: 'warm' });
    expect(
      await call(url(), 'trigger-long-running-operation', { duration: 5, steps: 1 }, { timeoutMs: 1_000 }),
    ).toMatchObject({ code: 'timeout', effect: 'unknown' });
    expect(await call(url(), 'echo', { message: 'again' })).toEqual({ ok: true, text: 'Echo: again' });
  });

  it('kill -9 while idle: nothing is sent while it is down, and a new session is made when it is back', async () => {
    expect(await call(url(), 'echo', { message: 'a' })).toMatchObject({ ok: true });
    await kill();
    expect(await call(url(), 'echo', { message: 'b' })).toMatchObject({
      ok: false,
      code: 'not_sent',
      effect: 'none',
      transient: true,
    });
    await start();
    expect(await call(url(), 'echo', { message: 'c' })).toEqual({ ok: true, text: 'Echo: c' });
  });

  it('a session that the server forgot is replaced within the call', async () => {
    expect(await call(url(), 'echo', { message: 'a' })).toMatchObject({ ok: true });
    await kill();
    await start();
    expect(await call(url(), 'echo', { message: 'b' })).toEqual({ ok: true, text: 'Echo: b' });
  });

  it('kill -9 at work: the effect is unknown', async () => {
    await call(url(), 'echo', { message: 'warm' });
    const working = call(url(), 'trigger-long-running-operation', { duration: 60, steps: 600 });
    await new Promise((resolve) => setTimeout(resolve, 500));
    await kill();
    expect(await working).toMatchObject({ ok: false, code: 'connection', effect: 'unknown' });
    await start();
    expect(await call(url(), 'echo', { message: 'd' })).toMatchObject({ ok: true });
  });
});

describe('a server of our own', () => {
  type Message = { id?: number; method: string; params?: { protocolVersion?: string; name?: string } };
  let server: Server;
  let onCall: (message: Message, response: ServerResponse, request: IncomingMessage) => void;
  let calls: number;
  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;

  const answer = (response: ServerResponse, body: unknown) =>
    response
      .writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 's1' })
      .end(JSON.stringify(body));

  beforeAll(async () => {
    server = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk: Buffer) => (text += chunk.toString()));
      request.on('end', () => {
        if (request.method !== 'POST') return response.writeHead(405).end();
        const message = JSON.parse(text) as Message;
        if (message.method === 'initialize') {
          const result = {
            protocolVersion: message.params?.protocolVersion,
            capabilities: {},
            serverInfo: { name: 'own', version: '1' },
          };
          return answer(response, { jsonrpc: '2.0', id: message.id, result });
        }
        if (message.method !== 'tools/call') return response.writeHead(202).end();
        calls += 1;
        return onCall(message, response, request);
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  beforeEach(() => (calls = 0));
  afterAll(async () => {
    server.closeAllConnections();
    await once(server.close(), 'close');
  });

  it('gets the credential, and its echo of it is taken out', async () => {
    onCall = ({ id }, response, request) =>
      answer(response, {
        jsonrpc: '2.0',
        id,
        result: { content: [{ type: 'text', text: String(request.headers.authorization) }] },
      });
    expect(await call(url(), 'x')).toEqual({ ok: true, text: 'Bearer [secret mcp-token]' });
  });

  it('C27 a stream without end is cut off (mksglu/context-mode#659)', async () => {
    onCall = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const block = Buffer.alloc(1024 * 1024, 'x');
      const pump = (): unknown => {
        while (!response.destroyed) if (!response.write(block)) return response.once('drain', pump);
        return undefined;
      };
      response.write('data: ');
      pump();
    };
    expect(await call(url(), 'x')).toMatchObject({ ok: false, code: 'too_large', effect: 'none' });
  });

  it.each([
    [403, 'tool_error', false, 1],
    [503, 'tool_error', true, 1],
    [404, 'not_sent', true, 2],
  ])('HTTP %i is %s', async (status, code, transient, asked) => {
    onCall = (_, response) => response.writeHead(status).end('no');
    expect(await call(url(), 'x')).toMatchObject({ ok: false, code, effect: 'none', transient });
    expect(calls).toBe(asked);
  });

  it('a connection that breaks after sending leaves the effect unknown, and is sent once', async () => {
    onCall = (_, __, request) => request.socket.destroy();
    expect(await call(url(), 'x')).toMatchObject({ ok: false, code: 'connection', effect: 'unknown' });
    expect(calls).toBe(1);
  });

  it('a stream that ends without an answer is not waited for until the time-out', async () => {
    onCall = (_, response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': nothing\n\n');
    const begun = performance.now();
    expect(await call(url(), 'x', {}, { timeoutMs: 60_000 })).toMatchObject({
      ok: false,
      code: 'connection',
      effect: 'unknown',
    });
    expect(performance.now() - begun).toBeLessThan(45_000);
  });

  it('C64 a redirect to another origin is not followed (bigduu/Bamboo-agent#231)', async () => {
    onCall = (_, response) => response.writeHead(307, { location: 'http://169.254.169.254/mcp' }).end();
    expect(await call(url(), 'x')).toMatchObject({ ok: false, code: 'tool_error', effect: 'none' });
  });
});

describe('C64 the address rules of HTTP tools hold for MCP servers (bigduu/Bamboo-agent#231)', () => {
  it.each([
    ['http://169.254.169.254/mcp', 'not on the list'],
    ['http://inside.test/mcp', 'linkLocal'],
    ['http://2130706434/mcp', 'not on the list'],
  ])('%s', async (url, reason) => {
    expect(await call(url, 'x')).toMatchObject({
      ok: false,
      code: 'refused',
      effect: 'none',
      text: expect.stringContaining(reason),
    });
  });
});

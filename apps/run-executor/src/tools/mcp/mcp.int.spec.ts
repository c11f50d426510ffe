import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject, McpServer } from '@runyard/contracts';
import { createToolRunner } from '../tool-runner';
import { MAX_OUTPUT_BYTES, shorten, SHOWN_BYTES } from '../text';
import type { ToolCall, ToolRunner } from '../types';
import { ODD_SERVER } from './odd-server';

jest.setTimeout(120_000);

const everything = require.resolve('@modelcontextprotocol/server-everything/dist/index.js');
const folder = mkdtempSync(join(tmpdir(), 'runyard-mcp-'));
let journal = '';
let runner: ToolRunner;
let logged: Record<string, unknown>[];

beforeEach(() => {
  journal = join(folder, `${Math.random()}`);
  logged = [];
  const note = (facts: Record<string, unknown>) => void logged.push(facts);
  runner = createToolRunner({
    secrets: (_org, name) => (name === 'stock-key' ? 's3cret-value' : undefined),
    recordings: async () => undefined,
    http: { allowedHosts: [], allowPrivate: false },
    mcp: {
      stdioCommands: [
        ['node', everything, 'stdio'],
        ['node', '-e', ODD_SERVER, '*'],
        'no-such-program',
        'node -e process.exit(3)',
      ],
    },
    now: Date.now,
    log: { info: note, warn: note },
  });
});
afterEach(() => runner.close());
afterAll(() => rmSync(folder, { recursive: true }));

const EVERYTHING: McpServer = {
  name: 'everything',
  transport: 'stdio',
  command: 'node',
  args: [everything, 'stdio'],
};
const odd = (env: Record<string, string> = {}): McpServer => ({
  name: 'odd',
  transport: 'stdio',
  command: 'node',
  args: ['-e', ODD_SERVER, journal],
  env,
});

interface Overrides {
  timeoutMs?: number;
  signal?: AbortSignal;
  org?: string;
}

function call(
  server: McpServer,
  tool: string,
  given: JsonObject = {},
  { timeoutMs = 20_000, signal, org = 'org' }: Overrides = {},
) {
  const whole: ToolCall = {
    org,
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
      timeoutMs,
      endsRun: false,
    },
    arguments: given,
    position: 0,
    idempotencyKey: 'run:c1-0',
    signal: signal ?? new AbortController().signal,
  };
  return runner.run(whole);
}

const journalled = (): string[] => readFileSync(journal, 'utf8').trim().split('\n');

async function until(condition: () => boolean): Promise<void> {
  for (
    const end = Date.now() + 60_000;
    !condition();
    await new Promise((resolve) => setTimeout(resolve, 10))
  ) {
    if (Date.now() > end) throw new Error('the condition never held');
  }
}

const alive = (pid: number): boolean => {
  try {
    // A zombie whose parent is gone is dead, too.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

async function pidOf(server: McpServer, overrides?: Overrides): Promise<number> {
  const echo = await call(server, 'echo', {}, overrides);
  return (JSON.parse(echo.text) as { pid: number }).pid;
}

describe('the reference server over stdio', () => {
  it('offers its tools with hints', async () => {
    const found = await runner.discover('org', EVERYTHING, new AbortController().signal);
    if (!found.ok) throw new Error(found.text);
    expect(found.tools.find(({ name }) => name === 'get-sum')).toMatchObject({
      inputSchema: { type: 'object', required: ['a', 'b'] },
      description: expect.any(String),
    });
    expect(found.tools.find(({ name }) => name === 'trigger-long-running-operation')).toMatchObject({
      effect: 'read',
      idempotent: true,
    });
  });

  it('answers text, images, resources, structured content and errors', async () => {
    expect(await call(EVERYTHING, 'echo', { message: 'hé 🟡' })).toEqual({ ok: true, text: 'Echo: hé 🟡' });
    expect(await call(EVERYTHING, 'get-sum', { a: 2, b: 3 })).toMatchObject({
      ok: true,
      text: expect.stringContaining('5'),
    });
    expect((await call(EVERYTHING, 'get-tiny-image')).text).toMatch(
      /\[image image\/png, \d+ bytes, not shown\]/,
    );
    expect(
      (await call(EVERYTHING, 'get-resource-reference', { resourceType: 'Text', resourceId: 1 })).text,
    ).toContain('[resource demo://');
    expect((await call(EVERYTHING, 'get-structured-content', { location: 'New York' })).text).toContain(
      '"temperature"',
    );
    expect(await call(EVERYTHING, 'get-sum', { a: 'x', b: 3 })).toMatchObject({
      ok: false,
      code: 'tool_error',
      effect: 'none',
    });
    expect(await call(EVERYTHING, 'no-such-tool')).toMatchObject({
      ok: false,
      code: 'tool_error',
      effect: 'none',
    });
  });

  it('C28 progress keeps a long operation alive (TulipFarm/tulipfarm#181)', async () => {
    await call(EVERYTHING, 'echo', { message: 'warm' });
    const long = { duration: 4, steps: 16 };
    expect(
      await call(EVERYTHING, 'trigger-long-running-operation', long, { timeoutMs: 3_000 }),
    ).toMatchObject({ ok: true });
    expect(
      await call(EVERYTHING, 'trigger-long-running-operation', { duration: 3, steps: 1 }, { timeoutMs: 500 }),
    ).toMatchObject({
      ok: false,
      code: 'timeout',
      effect: 'unknown',
    });
  });
});

describe('sessions', () => {
  it('are shared by calls of an org and never by two orgs', async () => {
    const [first, second, other] = await Promise.all([
      pidOf(odd()),
      pidOf(odd()),
      pidOf(odd(), { org: 'other' }),
    ]);
    expect(second).toBe(first);
    expect(other).not.toBe(first);
  });

  it('are made anew after kill -9, and the call that finds the server dead is sent once', async () => {
    const pid = await pidOf(odd());
    process.kill(pid, 'SIGKILL');
    await until(() => logged.some(({ outcome }) => outcome === 'SIGKILL'));
    const result = await call(odd(), 'echo', { n: 1 });
    expect(JSON.parse(result.text)).toMatchObject({ given: { n: 1 }, key: 'run:c1-0' });
    expect(await pidOf(odd())).not.toBe(pid);
  });

  it('a server that dies at work leaves the effect unknown, and is not asked again', async () => {
    expect(await call(odd(), 'die')).toMatchObject({ ok: false, code: 'connection', effect: 'unknown' });
    expect(journalled()).toEqual(['started', 'die']);
    expect(await call(odd(), 'echo')).toMatchObject({ ok: true });
  });

  it('the last words of a server that ends are read', async () => {
    expect(await call(odd(), 'last')).toEqual({ ok: true, text: 'last words' });
    await until(() => logged.some(({ outcome }) => outcome === 'exit code 0'));
    expect(await call(odd(), 'echo')).toMatchObject({ ok: true });
  });

  it('close ends the whole process tree, also of children that ignore signals', async () => {
    const child = Number((await call(odd(), 'child')).text);
    const server = await pidOf(odd());
    expect([alive(child), alive(server)]).toEqual([true, true]);
    await runner.close();
    expect([alive(child), alive(server)]).toEqual([false, false]);
    expect(await call(odd(), 'echo')).toMatchObject({ ok: false, code: 'not_sent' });
  });

  it('a dead server takes its children with it', async () => {
    const child = Number((await call(odd(), 'child')).text);
    process.kill(await pidOf(odd()), 'SIGKILL');
    await until(() => !alive(child));
  });
});

describe('C28 a call that is given up is called off and its server ended (TulipFarm/tulipfarm#181)', () => {
  it('on time-out', async () => {
    const pid = await pidOf(odd());
    expect(await call(odd(), 'hang', {}, { timeoutMs: 1_000 })).toMatchObject({
      ok: false,
      code: 'timeout',
      effect: 'unknown',
    });
    await until(() => !alive(pid));
    expect(journalled()).toEqual(['started', 'hang', 'cancelled', 'input closed']);
    expect(await pidOf(odd())).not.toBe(pid);
  });

  it('on cancel, while other calls of the session end in peace', async () => {
    const cancel = new AbortController();
    const pid = await pidOf(odd());
    const hanging = call(odd(), 'hang', {}, { signal: cancel.signal });
    const other = call(odd(), 'hang', {}, { timeoutMs: 3_000 });
    await until(() => journalled().filter((line) => line === 'hang').length === 2);
    cancel.abort();
    expect(await hanging).toMatchObject({ ok: false, code: 'cancelled', effect: 'unknown' });
    expect(alive(pid)).toBe(true);
    expect(await pidOf(odd())).not.toBe(pid);
    expect(await other).toMatchObject({ code: 'timeout' });
    await until(() => !alive(pid));
  });

  it('a result that comes late is told in the log', async () => {
    await pidOf(odd());
    expect(await call(odd(), 'late', {}, { timeoutMs: 1_000 })).toMatchObject({ code: 'timeout' });
    await until(() => logged.some(({ reason }) => String(reason).includes('too late')));
  });

  it('a cancel before the server is up sends nothing', async () => {
    expect(await call(odd(), 'echo', {}, { signal: AbortSignal.abort() })).toMatchObject({
      code: 'cancelled',
      effect: 'none',
    });
  });
});

describe('C27 results of any size are bounded (mksglu/context-mode#659)', () => {
  it('12 MB come whole and are shown shortened', async () => {
    const result = await call(odd(), 'big');
    expect(result).toMatchObject({ ok: true });
    expect(Buffer.byteLength(result.text)).toBe(12 * 1024 * 1024);
    expect(Buffer.byteLength(shorten(result.text).text)).toBeLessThanOrEqual(SHOWN_BYTES);
  });
  it('40 MB are dropped, told, and end nothing else', async () => {
    const pid = await pidOf(odd());
    const result = await call(odd(), 'huge');
    expect(result).toMatchObject({ ok: false, code: 'too_large', effect: 'none' });
    expect(Buffer.byteLength(result.text)).toBeLessThan(MAX_OUTPUT_BYTES);
    expect(await pidOf(odd())).toBe(pid);
  });
});

describe('odd servers', () => {
  it('noise on both outputs is skipped', async () => {
    expect(await call(odd(), 'noise')).toEqual({ ok: true, text: 'still here' });
  });
  it('content of unknown kinds is named', async () => {
    expect((await call(odd(), 'odd')).text).toBe(
      '[content of kind "hologram", not shown]\n[content of kind null, not shown]\nok',
    );
  });
  it("protocol errors are the tool's own", async () => {
    expect(await call(odd(), 'refuse')).toMatchObject({
      ok: false,
      code: 'tool_error',
      text: expect.stringContaining('no such part'),
    });
  });
  it('nothing of our environment is handed down, secrets come by name and are taken out of answers', async () => {
    const { text } = await call(odd({ STOCK_KEY: 'secret:stock-key', PLAIN: 'x' }), 'env');
    expect(JSON.parse(text)).toEqual({
      PATH: expect.any(String),
      HOME: expect.any(String),
      LANG: 'C.UTF-8',
      STOCK_KEY: '[secret stock-key]',
      PLAIN: 'x',
      // By which what it starts is found again.
      RUNYARD_TOOL_SERVER: expect.any(String),
    });
  });
  it.each<[string, McpServer, string]>([
    [
      'a command that is not on the list',
      { name: 's', transport: 'stdio', command: 'sh', args: ['-c', 'true'] },
      'list of allowed commands',
    ],
    [
      'a variable that takes over',
      { name: 's', transport: 'stdio', command: 'no-such-program', args: [], env: { LD_PRELOAD: 'x' } },
      'LD_PRELOAD',
    ],
    [
      'a program that is missing',
      { name: 's', transport: 'stdio', command: 'no-such-program', args: [] },
      'cannot be started',
    ],
    [
      'a secret that is missing',
      { name: 's', transport: 'stdio', command: 'no-such-program', args: [], env: { A: 'secret:other' } },
      '"other" is not set',
    ],
    ['a URL that is none', { name: 's', transport: 'http', url: 'nowhere' }, 'URL'],
  ])('%s is misconfigured', async (_, server, reason) => {
    expect(await call(server, 'x')).toMatchObject({
      ok: false,
      code: 'misconfigured',
      effect: 'none',
      transient: false,
      text: expect.stringContaining(reason),
    });
  });
  it('a server that ends while it starts was sent nothing', async () => {
    const server: McpServer = {
      name: 's',
      transport: 'stdio',
      command: 'node',
      args: ['-e', 'process.exit(3)'],
    };
    expect(await call(server, 'x')).toMatchObject({
      ok: false,
      code: 'not_sent',
      effect: 'none',
      transient: true,
    });
  });
});

import type { ToolSource } from '@runyard/contracts';
import { createToolRunner } from './tool-runner';
import type { ToolCall } from './types';

const warnings: unknown[] = [];
const runner = createToolRunner({
  secrets: () => {
    throw new Error('the store is down');
  },
  recordings: async (name) => (name === 'r' ? { format: 'runyard-tool-recording/1', calls: [] } : undefined),
  http: { allowedHosts: [], allowPrivate: false },
  mcp: { stdioCommands: [] },
  now: () => 0,
  log: { info: () => {}, warn: (facts) => void warnings.push(facts) },
});
afterAll(() => runner.close());

const run = (source: unknown) => {
  const call: ToolCall = {
    org: 'o',
    runId: 'r',
    conversationId: null,
    callId: 'c1-0',
    ownerId: 'u',
    tool: {
      name: 'tool',
      description: '',
      inputSchema: {},
      effect: 'write',
      idempotent: false,
      source: source as ToolSource,
      timeoutMs: 100,
      endsRun: false,
    },
    arguments: { expression: '1 + 1' },
    position: 0,
    idempotencyKey: 'k',
    signal: new AbortController().signal,
  };
  return runner.run(call);
};

it('calls go to their source', async () => {
  expect(await run({ kind: 'builtin', name: 'calculate' })).toEqual({ ok: true, text: '2' });
  expect(await run({ kind: 'recorded', recording: 'r' })).toMatchObject({ code: 'refused' });
  expect(await run({ kind: 'http', method: 'GET', url: 'http://example.test/' })).toMatchObject({
    code: 'refused',
  });
  expect(
    await run({ kind: 'mcp', server: { name: 's', transport: 'stdio', command: 'x', args: [] }, tool: 't' }),
  ).toMatchObject({
    code: 'misconfigured',
  });
});

it.each([[{ kind: 'telepathy' }], [{}], [{ kind: 'agent', agentId: 'a' }]])(
  '%j cannot be run here',
  async (source) => {
    expect(await run(source)).toMatchObject({
      ok: false,
      code: 'misconfigured',
      effect: 'none',
      transient: false,
    });
  },
);

it('a secret store that fails stops the call before it is sent', async () => {
  const http = { kind: 'http', method: 'GET', url: 'http://example.test/', credential: 'c' };
  expect(await run(http)).toMatchObject({ code: 'not_sent', effect: 'none', transient: true });
  const mcp = {
    kind: 'mcp',
    server: { name: 's', transport: 'http', url: 'http://example.test/', credential: 'c' },
    tool: 't',
  };
  expect(await run(mcp)).toMatchObject({ code: 'not_sent', effect: 'none', transient: true });
});

it('nothing throws out of run, not even a fault of ours', async () => {
  expect(await run(null)).toMatchObject({
    ok: false,
    effect: 'unknown',
    text: 'Error: the tool failed by an internal fault.',
  });
  expect(warnings).toHaveLength(1);
});

import { CORE_TOOLS, Problem } from '@runyard/contracts';
import type { RpcClient } from '@runyard/service';
import type { ToolCall } from '../types';
import { runKnowledge } from './knowledge.adapter';

const call = (signal = new AbortController().signal): ToolCall => ({
  org: 'org-1',
  runId: 'run-1',
  conversationId: null,
  callId: 'c1-0',
  ownerId: 'owner-1',
  tool: CORE_TOOLS[0]!,
  arguments: { query: 'refunds' },
  position: 0,
  idempotencyKey: 'key-1',
  signal,
});
const noMcp = { run: () => Promise.reject(new Error('not asked')) };

describe('a core tool', () => {
  const asked: unknown[][] = [];
  const rpc = (answer: () => unknown): RpcClient => ({
    call: async (...question: unknown[]) => {
      asked.push(question);
      return answer() as never;
    },
  });
  beforeEach(() => asked.splice(0));
  const through = (answer: () => unknown) =>
    runKnowledge(call(), 'search', { kind: 'service', rpc: rpc(answer) }, noMcp);

  test('asks in the owner’s name, with no role', async () => {
    expect(await through(() => ({ results: [] }))).toEqual({ ok: true, text: '{"results":[]}' });
    const caller = { org: 'org-1', actor: 'system:run-executor', userId: 'owner-1', roles: [] };
    expect(asked).toEqual([
      ['knowledge', 'knowledge.search', caller, { query: 'refunds' }, { timeoutMs: 15_000 }],
    ]);
  });

  test.each([
    [
      new Problem('not_found', 'There is no document x'),
      { code: 'tool_error', transient: false, effect: 'none' },
    ],
    [new Problem('unavailable', 'away', { maybeDone: false }), { code: 'not_sent', transient: true }],
    [new Problem('unavailable', 'late', { maybeDone: true }), { code: 'connection', transient: true }],
  ])('%s: what the model sees, and whether it is tried again', async (problem, result) => {
    const refusing = () => {
      throw problem;
    };
    expect(await through(refusing)).toMatchObject({
      ok: false,
      ...result,
      text: expect.stringContaining(problem.message),
    });
  });

  test('tells a neighbour that speaks MCP in whose name it reads', async () => {
    const server = { name: 'knowledge', transport: 'http', url: 'https://knowledge.example.org' } as const;
    const run = jest.fn(async () => ({ ok: true as const, text: '' }));
    await runKnowledge(call(), 'sources', { kind: 'mcp', server }, { run });
    expect(run).toHaveBeenCalledWith(
      expect.anything(),
      { server, tool: 'knowledge_sources' },
      { 'runyard/org': 'org-1', 'runyard/reader': 'owner-1' },
    );
  });

  test('is refused where there is no knowledge, and not sent after a cancel', async () => {
    expect(await runKnowledge(call(), 'read', undefined, noMcp)).toMatchObject({
      ok: false,
      code: 'refused',
    });
    const door = { kind: 'service' as const, rpc: rpc(() => null) };
    expect(await runKnowledge(call(AbortSignal.abort()), 'read', door, noMcp)).toMatchObject({
      code: 'cancelled',
    });
    expect(asked).toEqual([]);
  });
});

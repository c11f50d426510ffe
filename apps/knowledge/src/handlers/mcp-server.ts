import { CORE_TOOLS, Problem } from '@runyard/contracts';
import type { Caller, KnowledgeOperation, McpMessage } from '@runyard/contracts';
import type { Reading } from './reading';

/** Versions of the protocol that this server speaks; the newest is offered to whoever asks for another one. */
const VERSIONS = ['2025-06-18', '2025-03-26', '2024-11-05'] as const;
const METHOD_NOT_FOUND = -32_601;
const INVALID_PARAMS = -32_602;
const INTERNAL = -32_603;

interface McpAnswer {
  jsonrpc: '2.0';
  id: string | number;
  result?: unknown;
  error?: { code: number; message: string };
}

/**
 * The core tools as an MCP server, stateless: every message stands for itself and is answered in the caller's name, by
 * the rights that hold then. Null: a notification or an answer, which wants none.
 */
export async function answerMcp(
  reading: Reading,
  caller: Caller,
  message: McpMessage,
): Promise<McpAnswer | null> {
  const { id, method, params = {} } = message;
  if (id === undefined || id === null || method === undefined) return null;
  const answered = (result: unknown): McpAnswer => ({ jsonrpc: '2.0', id, result });
  const refused = (code: number, text: string): McpAnswer => ({
    jsonrpc: '2.0',
    id,
    error: { code, message: text },
  });
  switch (method) {
    case 'initialize':
      return answered(greeting(params.protocolVersion));
    case 'ping':
      return answered({});
    case 'tools/list':
      return answered({ tools: CORE_TOOLS.map(described) });
    case 'tools/call': {
      const tool = CORE_TOOLS.find(({ name }) => name === params.name);
      if (tool?.source.kind !== 'knowledge') return refused(INVALID_PARAMS, 'There is no such tool');
      return called(reading, caller, tool.source.operation, params.arguments).then(
        answered,
        (error: unknown) => {
          if (error instanceof Problem) return refused(INTERNAL, error.message);
          throw error;
        },
      );
    }
    default:
      return refused(METHOD_NOT_FOUND, 'This server has tools alone');
  }
}

const greeting = (asked: unknown) => ({
  protocolVersion: VERSIONS.find((version) => version === asked) ?? VERSIONS[0],
  capabilities: { tools: { listChanged: false } },
  serverInfo: { name: 'runyard-knowledge', version: '1' },
});

const described = ({ name, description, inputSchema }: (typeof CORE_TOOLS)[number]) => ({
  name,
  description,
  inputSchema,
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
});

/** What a model can do something about is a result that says so; what it cannot is an error of the protocol. */
async function called(
  reading: Reading,
  caller: Caller,
  operation: KnowledgeOperation,
  given: unknown,
): Promise<{ content: { type: 'text'; text: string }[]; isError?: true }> {
  try {
    const answer = await reading[operation](caller, given ?? {});
    return { content: [{ type: 'text', text: JSON.stringify(answer) }] };
  } catch (error) {
    if (!(error instanceof Problem) || error.code === 'unavailable') throw error;
    return { content: [{ type: 'text', text: error.message }], isError: true };
  }
}

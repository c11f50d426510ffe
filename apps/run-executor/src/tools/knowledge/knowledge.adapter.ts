import { Problem } from '@runyard/contracts';
import type { Caller, KnowledgeOperation, McpServer } from '@runyard/contracts';
import type { RpcClient } from '@runyard/service';
import type { McpTools } from '../mcp/mcp.adapter';
import { broken, cancelled, notSent, refused, succeeded, toolError } from '../outcomes';
import type { ToolCall, ToolResult } from '../types';

/** Where the core tools read: the knowledge service of this deployment, or a neighbour that speaks MCP. */
export type KnowledgeDoor = { kind: 'service'; rpc: RpcClient } | { kind: 'mcp'; server: McpServer };

/** Under which names a neighbour is told in whose name a call reads; it is ours to say and its to obey. */
const ORG_IN_META = 'runyard/org';
const READER_IN_META = 'runyard/reader';

/**
 * A call of a core tool, as the agent's owner and with no role: what a role would open is not the owner's by right. The
 * access lists are asked at every call, so that a revoked right ends with the call before.
 */
export function runKnowledge(
  call: ToolCall,
  operation: KnowledgeOperation,
  door: KnowledgeDoor | undefined,
  mcp: Pick<McpTools, 'run'>,
): Promise<ToolResult> {
  if (door?.kind === 'service') return ask(call, operation, door.rpc);
  if (door?.kind === 'mcp')
    return mcp.run(
      call,
      { server: door.server, tool: `knowledge_${operation}` },
      { [ORG_IN_META]: call.org, [READER_IN_META]: call.ownerId },
    );
  return Promise.resolve(refused('Error: this deployment has no knowledge store.'));
}

async function ask(call: ToolCall, operation: KnowledgeOperation, rpc: RpcClient): Promise<ToolResult> {
  if (call.signal.aborted) return cancelled(false);
  const caller: Caller = {
    org: call.org,
    actor: 'system:run-executor',
    userId: call.ownerId,
    roles: [],
  };
  try {
    const answer = await rpc.call('knowledge', `knowledge.${operation}`, caller, call.arguments, {
      timeoutMs: call.tool.timeoutMs,
    });
    return succeeded(JSON.stringify(answer));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.code !== 'unavailable') return toolError(`Error: ${error.message}.`);
    const text = `Error: the knowledge store cannot be asked: ${error.message}.`;
    return error.facts.maybeDone === true ? broken(text) : notSent(text);
  }
}

import type { DefinitionSnapshot, ToolDefinition } from '@runyard/contracts';
import type { Circumstances, Judgement } from '../domain/decision';
import { byteLength } from '../domain/transcript';
import { parseArguments } from '../tools/arguments';

/** What decisions about a run need of its definition; computed once a drive. */
export function circumstancesOf(
  runId: string,
  definition: DefinitionSnapshot,
  pauseTtlMs: number,
): Omit<Circumstances, 'now'> {
  const tools = new Map(definition.tools.map((tool) => [tool.name, tool]));
  return {
    runId,
    models: definition.models,
    tools,
    overheadBytes: overheadOf(definition),
    judge: (call, cutOff) => judge(tools.get(call.tool), call.arguments, cutOff),
    pauseTtlMs,
  };
}

function judge(tool: ToolDefinition | undefined, raw: string, cutOff: boolean): Judgement {
  if (!tool) return { ok: false, code: 'unknown_tool', text: 'There is no such tool.' };
  const parsed = parseArguments(raw, tool, cutOff);
  return parsed.ok ? { ok: true, digest: parsed.digest } : parsed;
}

/** Bytes that are sent with every request beside the dialog. */
export function overheadOf(definition: DefinitionSnapshot): number {
  const offered = definition.tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  return byteLength(definition.systemPrompt) + byteLength(JSON.stringify(offered)) + 16 * (offered.length + 1);
}

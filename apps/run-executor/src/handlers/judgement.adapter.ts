import type { DefinitionSnapshot, ToolDefinition } from '@runyard/contracts';
import { childKey } from '@runyard/contracts';
import { runIdOf } from '@runyard/event-log';
import type { Circumstances, Judgement } from '../domain/decision';
import { byteLength } from '../domain/transcript';
import { parseArguments } from '../tools/arguments';
import type { ParsedArguments } from '../tools/types';

/** What a definition means to every run of it; definitions are kept parsed and shared. */
interface Offer {
  tools: ReadonlyMap<string, ToolDefinition>;
  overheadBytes: number;
}

const offers = new WeakMap<DefinitionSnapshot, Offer>();

function offerOf(definition: DefinitionSnapshot): Offer {
  const known = offers.get(definition);
  if (known) return known;
  const tools = new Map(definition.tools.map((tool) => [tool.name, tool]));
  const offer = { tools, overheadBytes: overheadOf(definition) };
  offers.set(definition, offer);
  return offer;
}

/** What driving a run needs of its definition beside the time. */
export interface DriveCircumstances extends Omit<Circumstances, 'now'> {
  /** Arguments of a call that was judged; what the judgement has parsed is not parsed again. */
  argumentsFor(tool: ToolDefinition, raw: string): ParsedArguments;
}

/** Settings that decisions need. */
export interface DriveRules {
  pauseTtlMs: number;
  /** Most children of a run at a time. */
  parallelChildren: number;
}

/** What decisions about a run need of its definition; made once a drive. */
export function circumstancesOf(
  { org, runId }: { org: string; runId: string },
  definition: DefinitionSnapshot,
  { pauseTtlMs, parallelChildren }: DriveRules,
): DriveCircumstances {
  const { tools, overheadBytes } = offerOf(definition);
  const judged = new Judged();
  return {
    runId,
    models: definition.models,
    tools,
    overheadBytes,
    judge: (call, cutOff) => judged.judge(tools.get(call.tool), call.arguments, cutOff),
    argumentsFor: (tool, raw) => judged.take(tool, raw),
    childRunId: (callId, attempt) => runIdOf(org, childKey(runId, callId, attempt)),
    parallelChildren,
    pauseTtlMs,
  };
}

/** Calls of one turn are judged together and sent right after; what was denied in between is forgotten. */
const JUDGED_MOST = 32;

/** Keeps what a judgement has parsed and validated until the call is sent. */
class Judged {
  private readonly kept = new Map<string, { tool: ToolDefinition; parsed: ParsedArguments }>();

  judge(tool: ToolDefinition | undefined, raw: string, cutOff: boolean): Judgement {
    if (!tool) return { ok: false, code: 'unknown_tool', text: 'There is no such tool.' };
    const parsed = parseArguments(raw, tool, cutOff);
    if (!parsed.ok) return parsed;
    if (this.kept.size >= JUDGED_MOST) this.kept.clear();
    this.kept.set(raw, { tool, parsed });
    return { ok: true, digest: parsed.digest, value: parsed.value };
  }

  take(tool: ToolDefinition, raw: string): ParsedArguments {
    const known = this.kept.get(raw);
    this.kept.delete(raw);
    return known?.tool === tool ? known.parsed : parseArguments(raw, tool);
  }
}

/** Bytes that are sent with every request beside the dialog. */
export function overheadOf(definition: DefinitionSnapshot): number {
  const offered = definition.tools.map(({ name, description, inputSchema }) => ({
    name,
    description,
    inputSchema,
  }));
  return (
    byteLength(definition.systemPrompt) + byteLength(JSON.stringify(offered)) + 16 * (offered.length + 1)
  );
}

import type { TokenUsage, ToolDefinition } from '@runyard/contracts';
import { messageBytes } from '../domain/transcript';
import type { ChatMessage, ModelRequest } from './types';
import { countOf, fieldsOf } from './wire-json';

/** Tokens as a provider reported them. `input` includes what was cached; `cached` is the part read from a cache. */
export interface ReportedUsage {
  input: number;
  output: number;
  cached: number;
}

/** Added per message, call and tool on top of its text: role, separators, ids (P6.2: a token is at least a byte). */
const BYTES_PER_MESSAGE = 16;

/**
 * Chat-completions usage. `output` = completion tokens, plus reasoning tokens where the provider counts them apart, which
 * shows in its total (xAI: total = prompt + completion + reasoning; OpenAI: reasoning is part of completion).
 */
export function openAiUsage(value: unknown): ReportedUsage | null {
  const usage = fieldsOf(value);
  const input = countOf(usage?.['prompt_tokens']);
  if (!usage || input === null) return null;
  const completion = countOf(usage['completion_tokens']) ?? 0;
  const reasoning = countOf(fieldsOf(usage['completion_tokens_details'])?.['reasoning_tokens']) ?? 0;
  const apart = countOf(usage['total_tokens']) === input + completion + reasoning;
  const cached =
    countOf(fieldsOf(usage['prompt_tokens_details'])?.['cached_tokens']) ??
    countOf(usage['prompt_cache_hit_tokens']) ??
    countOf(usage['cached_tokens']) ??
    0;
  return { input, output: apart ? completion + reasoning : completion, cached: Math.min(cached, input) };
}

/**
 * Anthropic usage: input = uncached + read from cache + written to cache; cached = read from cache. Streams report it
 * twice and cumulatively, so a later event that names input replaces the earlier one as a whole and is never added (C34);
 * one that names output only (older endpoints), or zero input, leaves the input as it was.
 */
export function anthropicUsage(before: ReportedUsage | null, value: unknown): ReportedUsage | null {
  const usage = fieldsOf(value);
  if (!usage) return before;
  const output = countOf(usage['output_tokens']) ?? before?.output ?? 0;
  const cached = countOf(usage['cache_read_input_tokens']) ?? 0;
  const uncached = countOf(usage['input_tokens']);
  const input = (uncached ?? 0) + cached + (countOf(usage['cache_creation_input_tokens']) ?? 0);
  if (before && (uncached === null || input === 0)) return { ...before, output };
  return uncached === null && input === 0 && output === 0 ? before : { input, output, cached };
}

/** Usage of a complete answer: as reported, else an upper estimate. */
export function settledUsage(
  reported: ReportedUsage | null,
  request: ModelRequest,
  deliveredBytes: number,
): TokenUsage {
  if (reported) return { ...reported, estimated: false };
  return { input: worstCaseInput(request), output: deliveredBytes, cached: 0, estimated: true };
}

/** Usage of an answer that broke off: what was reported, and for the delivered part an upper estimate (C32). */
export function interruptedUsage(
  reported: ReportedUsage | null,
  request: ModelRequest,
  deliveredBytes: number,
): TokenUsage {
  return {
    input: reported?.input ?? worstCaseInput(request),
    output: Math.max(reported?.output ?? 0, deliveredBytes),
    cached: reported?.cached ?? 0,
    estimated: true,
  };
}

/**
 * Upper bound of a request's tokens: UTF-8 bytes of all its texts + 16 per message (P6.2). By the loop's own measure of a
 * message, so that an estimate never exceeds the worst case that was proven before the call.
 */
export function worstCaseInput(request: Pick<ModelRequest, 'system' | 'messages' | 'tools'>): number {
  return overheadBytes(request.system, request.tools) + dialogBytes(request.messages);
}

/** The part of {@link worstCaseInput} that does not depend on the dialog: system prompt and tool definitions. */
export function overheadBytes(system: string, tools: readonly ToolDefinition[]): number {
  let bytes = Buffer.byteLength(system) + BYTES_PER_MESSAGE;
  for (const tool of tools)
    bytes +=
      Buffer.byteLength(tool.name + tool.description) +
      Buffer.byteLength(JSON.stringify(tool.inputSchema)) +
      BYTES_PER_MESSAGE;
  return bytes;
}

/** Dialogs only grow: what was counted of an array is kept, so that a long run counts each message once. */
const counted = new WeakMap<readonly ChatMessage[], { messages: number; bytes: number }>();

function dialogBytes(messages: readonly ChatMessage[]): number {
  const known = counted.get(messages);
  let bytes = known && known.messages <= messages.length ? known.bytes : 0;
  for (const message of messages.slice(bytes > 0 && known ? known.messages : 0))
    bytes += messageBytes(message);
  counted.set(messages, { messages: messages.length, bytes });
  return bytes;
}

export const callBytes = (tool: string, args: string): number =>
  Buffer.byteLength(tool) + Buffer.byteLength(args) + BYTES_PER_MESSAGE;

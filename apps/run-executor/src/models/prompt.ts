import type { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { ToolDefinition } from '@runyard/contracts';
import { pairedHistory, type Exchange, type PairedCall } from './pairing';
import { sendable, sendableJson } from './sendable-text';
import { toolNames, type ToolNames } from './tool-names';
import type { ModelRequest } from './types';
import { fieldsOf } from './wire-json';

export type LanguageModel = ReturnType<ReturnType<typeof createOpenAICompatible>['languageModel']>;
export type CallOptions = Parameters<LanguageModel['doStream']>[0];
export type PromptMessage = CallOptions['prompt'][number];
export type AssistantPart = Extract<PromptMessage, { role: 'assistant' }>['content'][number];
export type Turn = Extract<Exchange, { role: 'assistant' }>;
type Tools = NonNullable<CallOptions['tools']>;

/** How one kind of endpoint wants turns written. */
export interface Dialect {
  /** The assistant message of a turn; never without parts. */
  turn(turn: Turn, names: ToolNames): Extract<PromptMessage, { role: 'assistant' }>;
  /** A tool's result; endpoints differ in whether it may be blank. */
  result(text: string): string;
}

/** The dialog of a request as the provider packages take it; linear in the messages. */
export function promptOf(request: ModelRequest, dialect: Dialect): PromptMessage[] {
  const names = toolNames(request.tools);
  const prompt: PromptMessage[] = [];
  if (request.system.trim() !== '') prompt.push({ role: 'system', content: sendable(request.system) });
  for (const exchange of pairedHistory(request.messages)) {
    if (exchange.role === 'user')
      prompt.push({ role: 'user', content: [{ type: 'text', text: sendable(exchange.text) }] });
    else {
      prompt.push(dialect.turn(exchange, names));
      if (exchange.calls.length > 0) prompt.push(resultsOf(exchange.calls, dialect, names));
    }
  }
  return prompt;
}

function resultsOf(calls: PairedCall[], dialect: Dialect, names: ToolNames): PromptMessage {
  return {
    role: 'tool',
    content: calls.map((call) => ({
      type: 'tool-result',
      toolCallId: call.id,
      toolName: names.toWire(call.tool),
      output: { type: 'text', value: dialect.result(sendable(call.result)) },
    })),
  };
}

const writtenTools = new WeakMap<readonly ToolDefinition[], Tools>();

/** Tools as offered; a run offers the same array on each of its turns, so it is written once. */
export function toolsOf(tools: readonly ToolDefinition[]): Tools {
  const names = toolNames(tools);
  const written =
    writtenTools.get(tools) ??
    tools.map((tool) => ({
      type: 'function' as const,
      name: names.toWire(tool.name),
      description: sendable(tool.description),
      // Endpoints refuse a schema that does not say "object"; MCP servers may leave it out.
      inputSchema: { type: 'object' as const, ...fieldsOf(sendableJson(tool.inputSchema)) },
    }));
  writtenTools.set(tools, written);
  return written;
}

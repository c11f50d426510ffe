import type { AllowedModel, CatalogueTool } from '@runyard/contracts';
import type { ModelAdapter, ModelFailure, ModelRequest, ModelTurn } from '../../models/types';
import type { ToolCall, ToolResult, ToolRunner } from '../../tools/types';
import type { Tap } from './taps';

/** Spec-only: the world outside of the executors. Models and tools answer from a script and count what reaches them. */

export type Answer = Partial<ModelTurn> & { failure?: Partial<ModelFailure> };

export interface Script {
  /** `step`: which turn of this run is asked for, from 1 on. */
  model: (request: ModelRequest, step: number) => Promise<Answer> | Answer;
  tool: (call: ToolCall) => Promise<ToolResult> | ToolResult;
}

export interface SeenModelCall {
  /** What the run was asked: the last thing that a user said. */
  input: string;
  step: number;
  messages: ModelRequest['messages'];
  at: number;
}

/** What reached models and tools, whichever executor sent it. */
export class Outside {
  readonly modelCalls: SeenModelCall[] = [];
  readonly toolCalls: (ToolCall & { at: number })[] = [];
  /** Model calls under way. */
  open = 0;
  /** False: counts nothing; runs of thousands of steps would fill memory with their dialogs. */
  remembers = true;

  constructor(public script: Script) {}

  calledFor(input: string): SeenModelCall[] {
    return this.modelCalls.filter((call) => call.input === input);
  }

  toolsOf(runId: string): ToolCall[] {
    return this.toolCalls.filter((call) => call.runId === runId);
  }
}

export const TURN: ModelTurn = {
  text: null,
  reasoning: null,
  toolCalls: [],
  providerReason: 'stop',
  finish: 'stop',
  usage: { input: 10, output: 5, cached: 1, estimated: false },
  model: 'model-1',
  providerState: null,
};

const FAILURE: ModelFailure = {
  code: 'provider_unavailable',
  text: 'no',
  status: 503,
  retryable: true,
  retryAfterMs: 0,
  partialText: null,
  usage: null,
};

/** A turn that asks for tools. */
export const calls = (...list: [tool: string, args: string][]): Answer => ({
  toolCalls: list.map(([tool, args], index) => ({ providerCallId: `p${index}`, tool, arguments: args })),
});

export const ok = (text: string): ToolResult => ({ ok: true, text });

export const failure = (more: Partial<Extract<ToolResult, { ok: false }>> = {}): ToolResult => ({
  ok: false,
  code: 'connection',
  text: 'connection lost',
  effect: 'unknown',
  transient: true,
  ...more,
});

/** How many turns the model has made since the last thing that a user said, plus one; and that thing. */
export function placeIn(messages: ModelRequest['messages']): { input: string; step: number } {
  const from = messages.findLastIndex((message) => message.role === 'user');
  const said = messages[from];
  const step = messages.slice(from).filter((message) => message.role === 'assistant').length + 1;
  return { input: said?.role === 'user' ? said.text : '', step };
}

export function scriptedModel(outside: Outside, tap: Tap): ModelAdapter {
  return {
    call: (request) =>
      tap.around('model', async () => {
        const { input, step } = outside.remembers ? placeIn(request.messages) : { input: '', step: 0 };
        if (outside.remembers)
          outside.modelCalls.push({ input, step, messages: [...request.messages], at: performance.now() });
        outside.open++;
        const answered = Promise.resolve(outside.script.model(request, step));
        const answer = await Promise.race([answered, aborted(request.signal)]).finally(() => outside.open--);
        if (answer === 'aborted')
          return {
            ok: false,
            failure: { ...FAILURE, code: 'cancelled', text: 'aborted', status: null, retryable: false },
          };
        if (answer.failure) return { ok: false, failure: { ...FAILURE, ...answer.failure } };
        const asks = (answer.toolCalls ?? []).length > 0;
        return { ok: true, turn: { ...TURN, ...(asks ? { finish: 'tool_calls' as const } : {}), ...answer } };
      }),
  };
}

export function scriptedTools(outside: Outside, tap: Tap): ToolRunner {
  return {
    run: (call) =>
      tap.around(`tool ${call.tool.name}`, async () => {
        if (outside.remembers) outside.toolCalls.push({ ...call, at: performance.now() });
        return outside.script.tool(call);
      }),
    discover: () => Promise.reject(new Error('not used')),
    close: () => Promise.resolve(),
  };
}

const aborted = (signal: AbortSignal): Promise<'aborted'> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve('aborted');
    signal.addEventListener('abort', () => resolve('aborted'), { once: true });
  });

const toolRow = (name: string, effect: 'read' | 'write', idempotent: boolean, more = {}): CatalogueTool => ({
  name,
  description: name,
  inputSchema: { type: 'object' },
  effect,
  idempotent,
  source: { kind: 'builtin', name },
  timeoutMs: 10_000,
  endsRun: false,
  agentsAllowed: true,
  ...more,
});

const EDITS = {
  type: 'object',
  properties: { edits: { type: 'array', items: { type: 'object' } } },
  required: ['edits'],
  additionalProperties: false,
};

/** `look` reads, `put` writes idempotently, `write` writes and must not be repeated, `edit` has a strict schema. */
export const TOOLS: CatalogueTool[] = [
  toolRow('look', 'read', true),
  toolRow('put', 'write', true),
  toolRow('write', 'write', false),
  toolRow('edit', 'write', false, { inputSchema: EDITS }),
];

export const MODEL: AllowedModel = {
  modelId: 'm1',
  label: 'Model',
  tier: 'fast',
  provider: { kind: 'recorded', recording: 'none' },
  model: 'model-1',
  contextWindow: 1_000_000,
  maxOutputTokens: 1_000,
  prices: [],
  fallbacks: [],
};

import type { JsonObject, ToolDefinition } from '@runyard/contracts';
import type { NewRunEvent } from '../domain/decision';
import type { CallState } from '../domain/run';
import { afterFailure } from '../tools/retry';
import type { ToolResult, ToolRunner } from '../tools/types';
import type { Texts } from './texts.adapter';

export interface ToolCallPorts {
  tools: ToolRunner;
  texts: Texts;
  clock: () => number;
}

export interface ToolCallWork {
  org: string;
  runId: string;
  conversationId: string | null;
  ownerId: string;
  step: number;
  call: CallState;
  tool: ToolDefinition;
  arguments: JsonObject;
  position: number;
  signal: AbortSignal;
}

/** Characters of an error's text in an event; the observation has all of it. */
const MAX_ERROR = 2_000;

/** Makes the recorded attempt at a tool call and returns the fact of what became of it. */
export async function callToolOnce(ports: ToolCallPorts, work: ToolCallWork): Promise<NewRunEvent> {
  const { call, tool } = work;
  const startedAt = ports.clock();
  const result = await ports.tools.run({
    org: work.org,
    runId: work.runId,
    conversationId: work.conversationId,
    callId: call.callId,
    ownerId: work.ownerId,
    tool,
    arguments: work.arguments,
    position: work.position,
    idempotencyKey: call.started?.idempotencyKey ?? '',
    signal: work.signal,
  });
  const common = { step: work.step, callId: call.callId, tool: call.tool };
  if (result.ok) {
    const observation = await ports.texts.keep(work.org, noted(call, result.text));
    return { type: 'ToolCallSucceeded', data: { ...common, observation, startedAt } };
  }
  return failure(ports, work, result, startedAt);
}

/** A model whose call was changed must be told, or it takes the result for an answer to its own. */
const noted = ({ grant, arguments: sent }: CallState, result: string): string =>
  grant?.edited === true
    ? `A reviewer changed the arguments of this call to ${sent}. Its result:\n${result}`
    : result;

async function failure(
  ports: ToolCallPorts,
  work: ToolCallWork,
  result: Extract<ToolResult, { ok: false }>,
  startedAt: number,
): Promise<NewRunEvent> {
  const { call, tool } = work;
  const common = { step: work.step, callId: call.callId, tool: call.tool };
  const then = afterFailure(tool, result, call.failures + 1);
  if (then.then === 'ambiguous') {
    const cause = result.code === 'timeout' ? 'timeout' : 'connection';
    return { type: 'ToolCallAmbiguous', data: { ...common, cause, text: result.text.slice(0, MAX_ERROR) } };
  }
  const observation = await ports.texts.keep(work.org, `Error: ${result.text}`);
  if (result.code === 'cancelled')
    return { type: 'ToolCallCancelled', data: { ...common, observation, startedAt } };
  return {
    type: 'ToolCallFailed',
    data: {
      ...common,
      error: { code: result.code, text: result.text.slice(0, MAX_ERROR) },
      observation,
      startedAt,
      attempt: call.attempt,
      willRetry: then.then === 'retry',
      retryInMs: then.then === 'retry' ? then.delayMs : 0,
      exhausted: then.then === 'observe' && then.exhausted,
    },
  };
}

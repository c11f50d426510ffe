import type { DefinitionSnapshot, ModelRoute, StoredText, TokenUsage } from '@runyard/contracts';
import { MAX_COMMIT_BYTES } from '@runyard/contracts';
import { dialogRoom } from '../domain/bounds';
import { callIdOf } from '../domain/calls';
import type { NewRunEvent } from '../domain/decision';
import type { LiveRun, Phase } from '../domain/run';
import { byteLength, fitInto } from '../domain/transcript';
import { nextAfterFailure } from '../models/retry';
import type { ModelAdapter, ModelFailure, ModelTurn } from '../models/types';
import type { Texts } from './texts.adapter';

export interface ModelCallPorts {
  /** The adapter of an org: it reaches that org's secrets only. */
  models: (org: string) => ModelAdapter;
  texts: Texts;
  clock: () => number;
  random: () => number;
}

export interface ModelCallWork {
  org: string;
  run: LiveRun;
  phase: Extract<Phase, { name: 'calling_model' }>;
  definition: DefinitionSnapshot;
  overheadBytes: number;
  deadlineLeftMs: number;
  signal: AbortSignal;
}

/** Calls of one turn; all of them and their ends must fit a commit. */
export const MAX_CALLS = 256;
/** Names and ids of providers, in characters. Longer ones name nothing. */
const MAX_NAME = 256;
const MAX_ERROR = 4_000;

/** With fewer calls, names and ids fit whatever they hold. */
const FEW_CALLS = 8;
/** Leaves room for the envelope. */
const TURN_BYTES = MAX_COMMIT_BYTES - 8 * 1024;

const clip = (name: string): string => name.slice(0, MAX_NAME);

/** Makes the recorded attempt at a model turn and returns the fact of what became of it. */
export async function callModelOnce(ports: ModelCallPorts, work: ModelCallWork): Promise<NewRunEvent> {
  const { run, phase, definition } = work;
  const route = definition.models[phase.route];
  if (!route) throw new Error(`run definition has no route ${phase.route}`);
  const room = dialogRoom(route.contextWindow, route.maxOutputTokens, work.overheadBytes);
  const startedAt = ports.clock();
  const result = await ports.models(work.org).call({
    route,
    system: definition.systemPrompt,
    messages: fitInto(run.transcript, room).messages,
    tools: definition.tools,
    maxOutputTokens: phase.maxOutputTokens,
    attempt: phase.routeAttempt,
    signal: work.signal,
  });
  if (!result.ok) return failed(ports, work, route, result.failure);
  const { turn } = result;
  if (turn.toolCalls.length > MAX_CALLS) return failed(ports, work, route, tooManyCalls(turn));
  const fact = await completed(ports, work, route, turn, startedAt);
  // One that fits no commit could never be recorded, and the turn would be bought again and again.
  const fits = turn.toolCalls.length <= FEW_CALLS || byteLength(JSON.stringify(fact)) <= TURN_BYTES;
  return fits ? fact : failed(ports, work, route, tooManyCalls(turn));
}

async function completed(
  ports: ModelCallPorts,
  work: ModelCallWork,
  route: ModelRoute,
  turn: ModelTurn,
  startedAt: number,
): Promise<NewRunEvent> {
  const { org, phase } = work;
  const shares = turn.toolCalls.length + 3;
  const store = async (text: string | null): Promise<StoredText | null> =>
    text === null ? null : ports.texts.keep(org, text, shares);
  const toolCalls = await Promise.all(
    turn.toolCalls.map(async (call, index) => ({
      callId: callIdOf(phase.step, index),
      providerCallId: clip(call.providerCallId),
      tool: clip(call.tool),
      arguments: await ports.texts.keep(org, call.arguments, shares),
    })),
  );
  return {
    type: 'ModelTurnCompleted',
    data: {
      step: phase.step,
      attempt: phase.attempt,
      modelId: route.modelId,
      provider: route.provider.kind,
      model: clip(turn.model),
      text: await store(turn.text),
      reasoning: await store(turn.reasoning),
      toolCalls,
      providerReason: clip(turn.providerReason),
      finish: turn.finish,
      usage: turn.usage,
      startedAt,
      providerState: await store(turn.providerState),
    },
  };
}

async function failed(
  ports: ModelCallPorts,
  work: ModelCallWork,
  route: ModelRoute,
  failure: ModelFailure,
): Promise<NewRunEvent> {
  const { phase } = work;
  const decision = nextAfterFailure(failure, {
    attempt: phase.routeAttempt,
    routeIndex: phase.route,
    routes: work.definition.models,
    deadlineLeftMs: work.deadlineLeftMs,
    random: ports.random(),
  });
  // Aborted by a control or the deadline: what comes next is theirs to say, and a resumed run asks again.
  const next = failure.code === 'cancelled' ? ({ next: 'retry', retryInMs: 0 } as const) : decision;
  return {
    type: 'ModelCallFailed',
    data: {
      step: phase.step,
      attempt: phase.attempt,
      modelId: route.modelId,
      error: { code: failure.code, text: failure.text.slice(0, MAX_ERROR), status: failure.status },
      partialText:
        failure.partialText === null ? null : await ports.texts.keep(work.org, failure.partialText),
      usage: failure.usage ?? assumedUsage(failure, phase),
      next: next.next,
      retryInMs: next.retryInMs,
    },
  };
}

export const NOTHING_USED: TokenUsage = { input: 0, output: 0, cached: 0, estimated: false };

/** A call that broke off after it was accepted is booked at its worst case; one that was refused cost nothing. */
function assumedUsage(failure: ModelFailure, phase: ModelCallWork['phase']): TokenUsage {
  if (failure.code !== 'interrupted' && failure.code !== 'cancelled') return NOTHING_USED;
  return {
    input: phase.worstCaseInput,
    output: byteLength(failure.partialText ?? ''),
    cached: 0,
    estimated: true,
  };
}

const tooManyCalls = ({ toolCalls, usage }: ModelTurn): ModelFailure => ({
  code: 'provider_invalid',
  text: `The model asked for ${toolCalls.length} calls in one turn; ${MAX_CALLS} with names of usual length are the most.`,
  status: null,
  retryable: false,
  retryAfterMs: null,
  partialText: null,
  usage,
});

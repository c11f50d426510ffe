import type { ModelTurnCompleted, RunEvent, TokenUsage } from '@runyard/contracts';
import { startTurn } from './calls';
import { EXECUTOR_LOST } from './claim';
import type { ChatMessage } from './dialog';
import type { Material } from './material';
import { wholeText } from './material';
import type { LiveRun } from './run';
import { withCall } from './spend';
import { append } from './transcript';

const spent = (usage: TokenUsage): number => usage.input + usage.output;

type ModelEvent = Extract<RunEvent, { type: 'ModelCallStarted' | 'ModelCallFailed' | 'ModelTurnCompleted' }>;

/** Folds an event about a model call. */
export function modelStep(run: LiveRun, event: ModelEvent, material: Material): LiveRun {
  if (event.type === 'ModelCallStarted') {
    const { step: number, attempt, modelId, provider, model, worstCaseInput, maxOutputTokens } = event.data;
    const { route, routeAttempt } =
      run.phase.name === 'backing_off' ? run.phase : { route: 0, routeAttempt: 1 };
    const called = { modelId, provider, model, worstCaseInput, maxOutputTokens };
    return {
      ...run,
      phase: { name: 'calling_model', step: number, attempt, route, routeAttempt, ...called },
    };
  }
  const usedTokens = run.usedTokens + spent(event.data.usage);
  const spendLines = withCall(run, event);
  if (event.type === 'ModelTurnCompleted')
    return answered({ ...run, usedTokens, spendLines }, event, material);
  const { step: number, attempt, error, next, retryInMs } = event.data;
  if (next === 'give_up') return { ...run, usedTokens, spendLines, phase: { name: 'gave_up', error } };
  const tried = run.phase.name === 'calling_model' ? run.phase : { route: 0, routeAttempt: 0 };
  // A call that a control took back, or that was lost with its driver, says nothing about the route.
  const tries = tried.routeAttempt + (error.code === 'cancelled' || error.code === EXECUTOR_LOST ? 0 : 1);
  const place =
    next === 'fallback'
      ? { route: tried.route + 1, routeAttempt: 1 }
      : { route: tried.route, routeAttempt: tries };
  const until = event.time + retryInMs;
  return {
    ...run,
    usedTokens,
    spendLines,
    phase: { name: 'backing_off', step: number, attempt: attempt + 1, until, ...place },
  };
}

function answered(run: LiveRun, event: ModelTurnCompleted, material: Material): LiveRun {
  const { data } = event;
  const toolCalls = data.toolCalls.map((call) => ({
    callId: call.callId,
    tool: call.tool,
    arguments: wholeText(call.arguments, material),
  }));
  const text = data.text === null ? null : wholeText(data.text, material);
  const message: ChatMessage = {
    role: 'assistant',
    text,
    toolCalls: toolCalls.map((call) => ({ ...call, callId: material.callPrefix + call.callId })),
    providerState: data.providerState === null ? null : wholeText(data.providerState, material),
    provider: `${data.provider}/${data.model}`,
  };
  const next = { ...run, steps: run.steps + 1, transcript: append(run.transcript, [message]) };
  if (toolCalls.length === 0)
    return { ...next, phase: { name: 'answered', output: data.text ?? { text: '' }, finish: data.finish } };
  return startTurn(next, data.step, toolCalls, data.finish === 'length');
}

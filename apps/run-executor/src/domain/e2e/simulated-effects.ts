import type { NewRunEvent } from '../decision';
import type { LiveRun } from '../run';

/** Spec-only. The world outside of a simulated run: a scripted model and tools that count how often they were asked. */

export interface Outside {
  /** Executions of each call, by call id. */
  effects: Map<string, number>;
  /** Turns that the model was asked and paid for, by step. */
  bought: Map<number, number>;
}

/** Effects under way: what the log has announced and nobody has settled. */
export function underWay(run: LiveRun): string[] {
  if (run.phase.name === 'calling_model') return ['model'];
  if (run.phase.name !== 'calling_tools') return [];
  return run.phase.calls.filter((call) => call.status === 'in_flight').map((call) => call.callId);
}

/** What the world does when an executor asks it for an effect; answers the event by which the log would learn of it. */
export function execute(
  world: Outside,
  run: LiveRun,
  effect: string,
  script: string[][],
  fails: boolean,
): NewRunEvent {
  if (effect === 'model') return model(world, run, script, fails);
  world.effects.set(effect, (world.effects.get(effect) ?? 0) + 1);
  const name =
    run.phase.name === 'calling_tools' ? (run.phase.calls.find((c) => c.callId === effect)?.tool ?? '') : '';
  const common = { step: run.steps, callId: effect, tool: name };
  if (!fails)
    return { type: 'ToolCallSucceeded', data: { ...common, observation: { text: 'ok' }, startedAt: 0 } };
  if (name === 'write') return { type: 'ToolCallAmbiguous', data: { ...common, cause: 'timeout', text: '' } };
  const failed = {
    error: { code: 'connection', text: '' },
    observation: { text: 'no' },
    startedAt: 0,
    attempt: 1,
  };
  return { type: 'ToolCallFailed', data: { ...common, ...failed, willRetry: true, retryInMs: 5 } };
}

function model(world: Outside, run: LiveRun, script: string[][], fails: boolean): NewRunEvent {
  if (run.phase.name !== 'calling_model') throw new Error('no call');
  const { step, attempt, route } = run.phase;
  const common = { step, attempt, modelId: 'm', usage: { input: 7, output: 3, cached: 0, estimated: false } };
  const next = attempt < 3 ? 'retry' : route === 0 ? 'fallback' : 'give_up';
  const error = { code: 'provider_unavailable', text: '', status: 503 };
  if (fails)
    return { type: 'ModelCallFailed', data: { ...common, error, partialText: null, next, retryInMs: 5 } };
  world.bought.set(step, (world.bought.get(step) ?? 0) + 1);
  const toolCalls = (script[step - 1] ?? []).map((name, index) => ({
    callId: `c${step}-${index}`,
    providerCallId: 'dup',
    tool: name === 'bad' ? 'read' : name,
    arguments: { text: name === 'bad' ? 'bad' : '{}' },
  }));
  const rest = {
    provider: 'p',
    model: 'm',
    text: { text: 't' },
    reasoning: null,
    providerReason: '',
    startedAt: 0,
    providerState: null,
  };
  return { type: 'ModelTurnCompleted', data: { ...common, ...rest, toolCalls, finish: 'stop' } };
}

import type { FailureReason } from '@runyard/contracts';
import { freeTokens } from './children';
import type { Circumstances, NewRunEvent } from './decision';
import { usedMilliseconds } from './run';
import type { LiveRun } from './run';
import { fitInto } from './transcript';

/** Fewer tokens than this are no answer: the budget counts as used up. */
const SMALLEST_ANSWER = 16;

/** What is left of every bound; recorded before every dispatch. */
export function snapshot(run: LiveRun, now: number): NewRunEvent {
  const used = usedMilliseconds(run, now);
  return {
    type: 'BudgetSnapshotTaken',
    data: {
      steps: Math.max(0, run.bounds.maxSteps - run.steps),
      toolCalls: Math.max(0, run.bounds.maxToolCalls - run.toolCalls),
      tokens: Math.max(0, freeTokens(run)),
      milliseconds: Math.max(0, run.bounds.deadlineSeconds * 1_000 - used),
      weeklyTokens: weeklyLeft(run),
      usedMilliseconds: used,
    },
  };
}

/** Others may have used the week meanwhile: what was reserved for this run is safe from them. */
const weeklyLeft = ({ weeklyTokens, usedTokens, childTokens }: LiveRun): number | null =>
  weeklyTokens === null ? null : Math.max(0, weeklyTokens - usedTokens - childTokens);

/** Tokens without which a run could not make its first call as its model may answer (P6.1); never more than its budget. */
export function firstCallNeeds(
  run: LiveRun,
  { models, overheadBytes }: Pick<Circumstances, 'models' | 'overheadBytes'>,
): number {
  const [route] = models;
  if (!route) return run.grantTokens;
  const room = dialogRoom(route.contextWindow, route.maxOutputTokens, overheadBytes);
  const input = fitInto(run.transcript, room).bytes + overheadBytes;
  return Math.min(run.grantTokens, input + route.maxOutputTokens);
}

export type ModelDispatch =
  | { cap: FailureReason; events?: undefined }
  | { cap?: undefined; events: NewRunEvent[] };

/**
 * The next model call, or the bound that forbids it. Caps hold before the money is spent: what was used plus the worst
 * case of this call must fit the grant, and the output limit that is sent is lowered to fit (P6.2).
 */
export function callModel(run: LiveRun, at: Circumstances): ModelDispatch {
  if (run.steps >= run.bounds.maxSteps) return { cap: 'iteration_cap' };
  const retry = run.phase.name === 'backing_off' ? run.phase : null;
  const route = at.models[retry?.route ?? 0];
  if (!route) return { cap: 'definition_invalid' };
  const fitted = fitInto(
    run.transcript,
    dialogRoom(route.contextWindow, route.maxOutputTokens, at.overheadBytes),
  );
  const worstCaseInput = fitted.bytes + at.overheadBytes;
  const maxOutputTokens = Math.min(route.maxOutputTokens, freeTokens(run) - worstCaseInput);
  if (maxOutputTokens < SMALLEST_ANSWER) return { cap: tokenCap(run) };
  const started: NewRunEvent = {
    type: 'ModelCallStarted',
    data: {
      step: run.steps + 1,
      attempt: retry?.attempt ?? 1,
      modelId: route.modelId,
      provider: route.provider.kind,
      model: route.model,
      worstCaseInput,
      maxOutputTokens,
      omittedMessages: fitted.omitted,
    },
  };
  return { events: [snapshot(run, at.now), started] };
}

/** Tokens of a model's context that are left for the dialog; system prompt and tools count at four bytes a token. */
export const dialogRoom = (contextWindow: number, maxOutputTokens: number, overheadBytes: number): number =>
  Math.max(1_000, contextWindow - Math.min(maxOutputTokens, contextWindow / 2) - overheadBytes / 4);

/** Whose bound it was decides what it is called (P6.1). */
export const tokenCap = (run: LiveRun): FailureReason =>
  run.weeklyCapped ? 'weekly_budget' : 'token_budget';

/** For people: which bound closed, and at what. */
export function capReached(run: LiveRun, reason: FailureReason): string {
  switch (reason) {
    case 'iteration_cap':
      return `The run used all of its ${run.bounds.maxSteps} steps.`;
    case 'tool_call_cap':
      return `The run may make ${run.bounds.maxToolCalls} tool calls, and the model asked for more.`;
    case 'token_budget':
      return `${run.usedTokens + run.childTokens} of ${run.grantTokens} tokens are used; the next model call may need more than is left.`;
    case 'weekly_budget':
      return `${run.usedTokens + run.childTokens} of the ${run.grantTokens} tokens that the owner's weekly budget left for it are used; the next model call may need more than is left.`;
    case 'deadline':
      return `The run was active for its ${run.bounds.deadlineSeconds} seconds.`;
    case 'definition_invalid':
      return 'The agent has no model that could be called.';
    default:
      return `The run ended: ${reason}.`;
  }
}

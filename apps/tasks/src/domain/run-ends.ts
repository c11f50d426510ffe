import type { HoldOutput, TaskPhase } from '@runyard/contracts';
import { readPlan, readResult, readVerdict } from './phase-answers';
import { MOST_ROUNDS, add, draftOf, mostToDo, requestNext } from './phases';
import type { Draft } from './phases';
import type { LiveTask, Told } from './task';
import type { Requesting, RunOutcome, TaskCommand } from './task-commands';

// What becomes of a task when one of its runs has ended: the rules of the README, as code.

type Command<Type extends TaskCommand['type']> = Extract<TaskCommand, { type: Type }>;

/** Runs of one phase or step that may fail for a passing reason, or answer what cannot be used. */
export const MOST_TRIES = 3;
/** Requests of one phase or step that may find the agent busy; with the pauses below about an hour. */
export const MOST_BUSY = 60;
/** The first pause, doubled each time up to the longest. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/** Nothing is wrong with the task or its agent: the same request may fare better later. */
const PASSING: ReadonlySet<string> = new Set(['stale', 'provider_unavailable', 'replaced']);

const pauseAfter = (times: number): number =>
  Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(times, 10));

export function runEnded(task: LiveTask, command: Command<'RunEnded'>): Told[] {
  const { outcome } = command;
  const { active } = task;
  // Said before, or of a run that the task has given up: nothing to decide (P8.2).
  if (active?.runId !== outcome.runId) return [];
  const draft = draftOf(task);
  const { runId, state, reason, steps, tokens } = outcome;
  const { phase, step } = active;
  add(draft, { type: 'TaskPhaseEnded', data: { runId, phase, step, state, reason, steps, tokens } });
  if (state === 'succeeded') answered(draft, phase, step, command);
  else if (task.stopping || isCancelled(outcome)) cancel(draft, step);
  else notDone(draft, step, outcome, command.now);
  return draft.events;
}

/** By a person or with its parent; an agent that was stopped or a run that was replaced are failures of the task. */
const isCancelled = ({ state, reason }: RunOutcome): boolean =>
  state === 'cancelled' && (reason === 'user' || reason === 'parent');

function cancel(draft: Draft, step: number | null): void {
  if (step !== null && draft.task.steps[step - 1]?.status !== 'completed')
    add(draft, { type: 'TaskStepFinished', data: { step, status: 'cancelled', result: null } });
  add(draft, { type: 'TaskCancelled', data: { reason: 'user' } });
}

function notDone(draft: Draft, step: number | null, { reason, error }: RunOutcome, now: number): void {
  const { tries, busy } = draft.task;
  const code = reason ?? 'error';
  if (code === 'already_running' && busy + 1 < MOST_BUSY)
    return add(draft, { type: 'TaskPhaseDeferred', data: { until: now + pauseAfter(busy), code } });
  if (PASSING.has(code) && tries + 1 < MOST_TRIES)
    return add(draft, { type: 'TaskPhaseDeferred', data: { until: now + pauseAfter(tries), code } });
  fail(draft, step, code, error);
}

function fail(draft: Draft, step: number | null, reason: string, detail: string): void {
  if (step !== null) {
    const result = detail === '' ? null : { text: detail };
    add(draft, { type: 'TaskStepFinished', data: { step, status: 'failed', result } });
  }
  add(draft, { type: 'TaskFailed', data: { reason, detail } });
}

function answered(draft: Draft, phase: TaskPhase, step: number | null, command: Command<'RunEnded'>): void {
  switch (phase) {
    case 'plan':
      return planned(draft, command);
    case 'act':
      return acted(draft, step ?? 0, command);
    case 'verify':
      return verified(draft, command);
    case 'report': {
      const report = command.outcome.output ?? { text: '' };
      return add(draft, { type: 'TaskCompleted', data: { report, byHand: false } });
    }
    default:
      return phase satisfies never;
  }
}

function planned(draft: Draft, command: Command<'RunEnded'>): void {
  const plan = readPlan(command.outcome.text, mostToDo(draft.task));
  if (plan.kind === 'hold') return hold(draft, null, plan.hold, command);
  if (plan.kind === 'unusable') return askAgain(draft, plan.why, 'invalid_plan', command);
  add(draft, { type: 'TaskPlanned', data: { steps: plan.value } });
  if (draft.task.stopping) return cancel(draft, null);
  if (draft.task.details.reviewPlan) return add(draft, { type: 'TaskReviewAwaited', data: {} });
  requestNext(draft, command);
}

function acted(draft: Draft, step: number, command: Command<'RunEnded'>): void {
  const result = readResult(command.outcome.text);
  if (result.kind === 'hold') return hold(draft, step, result.hold, command);
  add(draft, {
    type: 'TaskStepFinished',
    data: { step, status: 'completed', result: command.outcome.output },
  });
  if (draft.task.stopping) return cancel(draft, null);
  requestNext(draft, command);
}

function verified(draft: Draft, command: Command<'RunEnded'>): void {
  const verdict = readVerdict(command.outcome.text, draft.task.steps.length);
  if (verdict.kind === 'hold') return hold(draft, null, verdict.hold, command);
  if (verdict.kind === 'unusable') return askAgain(draft, verdict.why, 'invalid_verdict', command);
  const { round } = draft.task;
  const { accepted, reason } = verdict.value;
  add(draft, { type: 'TaskVerified', data: { ...verdict.value, round } });
  if (draft.task.stopping) return cancel(draft, null);
  if (!accepted && round >= MOST_ROUNDS)
    return add(draft, { type: 'TaskFailed', data: { reason: 'not_accepted', detail: reason } });
  requestNext(draft, command);
}

/** The declared format was missed: the next run is told how, a few times. */
function askAgain(draft: Draft, why: string, reason: string, command: Command<'RunEnded'>): void {
  const { runId } = command.outcome;
  add(draft, { type: 'TaskAnswerRefused', data: { runId, detail: why } });
  if (draft.task.stopping) return cancel(draft, null);
  if (draft.task.tries >= MOST_TRIES) return fail(draft, null, reason, why);
  requestNext(draft, command);
}

/**
 * The agent cannot go on. Where a dependency is open the task waits for it and goes on by itself; without one, "blocked" is
 * a word for needing somebody, and stays so until somebody comes (case C47).
 */
function hold(draft: Draft, step: number | null, output: HoldOutput, { open }: Requesting): void {
  if (draft.task.stopping) return cancel(draft, step);
  if ('blocked' in output && open.length > 0)
    return add(draft, { type: 'TaskHeld', data: { waitsFor: open.map(({ taskId }) => taskId), note: null } });
  const question = 'needs_input' in output ? output.needs_input : output.blocked;
  add(draft, { type: 'TaskNeedsInput', data: { question, escalated: 'blocked' in output } });
}

/** No run came of the request. */
export function requestRefused(task: LiveTask, command: Command<'RequestRefused'>): Told[] {
  const { active } = task;
  if (active?.number !== command.number) return [];
  const draft = draftOf(task);
  const { runId, phase, step } = active;
  const tokens = { input: 0, output: 0, cached: 0, total: 0 };
  const { code } = command;
  add(draft, {
    type: 'TaskPhaseEnded',
    data: { runId, phase, step, state: 'refused', reason: code, steps: 0, tokens },
  });
  if (task.stopping) cancel(draft, step);
  else fail(draft, step, code, command.message);
  return draft.events;
}

/** The pause of a deferred phase is over. */
export function requestAgain(task: LiveTask, command: Command<'RequestAgain'>): Told[] {
  if (task.status !== 'running' || task.deferredUntil === null || task.deferredUntil > command.now) return [];
  const draft = draftOf(task);
  requestNext(draft, command);
  return draft.events;
}

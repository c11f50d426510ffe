import type { Mode, TaskPhase } from '@runyard/contracts';
import { promptFor } from './prompts';
import { change } from './task-evolution';
import type { LiveTask, Told } from './task';
import type { Requesting } from './task-commands';

/** Verifications of a task; the last one that does not accept ends it. */
export const MOST_ROUNDS = 3;

/** A decision in the making: each event is folded in at once, so that the next one is decided on what came before. */
export interface Draft {
  task: LiveTask;
  readonly events: Told[];
}

export const draftOf = (task: LiveTask): Draft => ({ task, events: [] });

export function add(draft: Draft, ...events: Told[]): void {
  for (const event of events) {
    draft.events.push(event);
    draft.task = change(draft.task, event);
  }
}

/** What comes next: a plan where there is none, the first step that is not done, the judgement, the report. */
export function nextUnit({ steps, accepted }: LiveTask): { phase: TaskPhase; step: number | null } {
  if (steps.length === 0) return { phase: 'plan', step: null };
  const step = steps.findIndex(({ status }) => status !== 'completed');
  if (step >= 0) return { phase: 'act', step: step + 1 };
  return { phase: accepted ? 'report' : 'verify', step: null };
}

/** Loop steps that the phases after this one need at the least: one a run. */
function neededLater(task: LiveTask, phase: TaskPhase): number {
  switch (phase) {
    case 'plan':
      return 3;
    case 'act':
      return task.steps.filter(({ status }) => status !== 'completed').length - 1 + 2;
    case 'verify':
      return 1;
    case 'report':
      return 0;
    default:
      return phase satisfies never;
  }
}

/** Only *act* may change anything; the mode `plan` denies writing tools, and *act* has the agent's own mode. */
const modeOf = (phase: TaskPhase): Mode | null => (phase === 'act' ? null : 'plan');

/** Asks for the run of what comes next, or fails the task where its steps are used up. */
export function requestNext(draft: Draft, { runIdOf }: Pick<Requesting, 'runIdOf'>): void {
  const { task } = draft;
  const left = task.details.maxSteps - task.stepsUsed;
  if (left <= 0) {
    const detail = `All ${task.details.maxSteps} steps of the task are used`;
    add(draft, { type: 'TaskFailed', data: { reason: 'iteration_cap', detail } });
    return;
  }
  const { phase, step } = nextUnit(task);
  const number = task.requests + 1;
  const request = {
    number,
    runId: runIdOf(number),
    phase,
    step,
    round: task.round,
    agentId: task.details.agentId,
    modelId: task.details.modelId,
    maxSteps: Math.max(1, left - neededLater(task, phase)),
    mode: modeOf(phase),
    input: promptFor(task, phase, step, mostPlanned(task)),
  };
  add(draft, { type: 'TaskPhaseRequested', data: request });
}

/** Steps that a plan may have: each is a run of at least one loop step, and so are *plan*, *verify* and *report*. */
const mostPlanned = (task: LiveTask): number => Math.max(1, mostToDo(task) - 1);

/** Steps that can still be done when the plan is made: *verify* and *report* need one each. */
export const mostToDo = ({ details, stepsUsed }: LiveTask): number =>
  Math.max(1, details.maxSteps - stepsUsed - 2);

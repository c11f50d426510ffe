import type { TaskEvent } from '@runyard/contracts';
import { withStep } from './task-rows';
import type { ImageChange, RunRecord, TaskImage } from './task-rows';

// What requests and ends of runs make of a task's rows.

type Data<Type extends TaskEvent['type']> = Extract<TaskEvent, { type: Type }>['data'];

export function requested(image: TaskImage, data: Data<'TaskPhaseRequested'>, at: string): ImageChange {
  const { number, runId, phase, step, round } = data;
  const none = { steps: 0, input_tokens: 0, output_tokens: 0, cached_tokens: 0, total_tokens: 0 };
  const run: RunRecord = {
    ...none,
    number,
    run_id: runId,
    phase,
    step,
    round,
    state: 'requested',
    reason: null,
    requested_at: at,
    ended_at: null,
  };
  return {
    runs: [...image.runs, run],
    steps: withStep(image, step, { status: 'running', run_id: runId }),
    task: {
      phase,
      current_step: step,
      latest_run_id: runId,
      active_number: number,
      requested_at: at,
      retry_at: null,
    },
  };
}

export function ended(image: TaskImage, data: Data<'TaskPhaseEnded'>, at: string): ImageChange {
  const { runId, state, reason, steps, tokens } = data;
  const spent = {
    steps,
    input_tokens: tokens.input,
    output_tokens: tokens.output,
    cached_tokens: tokens.cached,
    total_tokens: tokens.total,
  };
  const runs = image.runs.map((run) =>
    run.run_id === runId ? { ...run, ...spent, state, reason, ended_at: at } : run,
  );
  const steps_used = image.task.steps_used + steps;
  return { runs, task: { active_number: null, requested_at: null, steps_used } };
}

/** What SET NULL does within one schema: the run's links go, what it spent stays (P8.4). */
export function forgotten(image: TaskImage, runId: string): ImageChange {
  const unlinked = <T extends { run_id: string | null }>(row: T): T =>
    row.run_id === runId ? { ...row, run_id: null } : row;
  const { latest_run_id: latest } = image.task;
  return {
    runs: image.runs.map(unlinked),
    steps: image.steps.map(unlinked),
    task: { latest_run_id: latest === runId ? null : latest },
  };
}

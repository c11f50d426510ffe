import type { TaskDetails, TaskEvent } from '@runyard/contracts';
import { decideTask } from '../src/domain/decide';
import { NO_TASK } from '../src/domain/task';
import type { Task } from '../src/domain/task';
import type { TaskCommand } from '../src/domain/task-commands';
import { evolveTask } from '../src/domain/task-evolution';

/** Spec-only: what the runs of a task will be asked, where each answers what is given here; for recordings. */
export function rehearse(details: TaskDetails, outputs: readonly string[]): string[] {
  let task: Task = NO_TASK;
  const asker = { actor: 'user:u', userId: 'u', roles: ['member'] as const };
  const needed = { open: [], now: 0, runIdOf: (number: number) => `run_${number}` };
  const act = (command: TaskCommand) => {
    for (const event of decideTask(task, command))
      task = evolveTask(task, { ...event, time: 0, actor: 'user:u' } as TaskEvent);
  };
  act({ type: 'CreateTask', asker, details, column: 'todo' });
  act({ type: 'StartTask', asker, note: null, ...needed });
  const tokens = { input: 0, output: 0, cached: 0, total: 0 };
  return outputs.map((text) => {
    const active = task.situation === 'live' ? task.active : null;
    if (!active) throw new Error('The task has ended before all outputs were used');
    const outcome = {
      runId: active.runId,
      state: 'succeeded',
      reason: null,
      error: '',
      output: { text },
      text,
    } as const;
    act({ type: 'RunEnded', outcome: { ...outcome, steps: 1, tokens }, ...needed });
    return active.input;
  });
}

import { Problem } from '@runyard/contracts';
import type { TaskDetails } from '@runyard/contracts';
import { requireFence } from './task-locks';
import type { LiveTask, Told } from './task';
import type { TaskCommand } from './task-commands';

type Command<Type extends TaskCommand['type']> = Extract<TaskCommand, { type: Type }>;

/** Runs under way were told what the task is; between *plan* and *act* they wait for nothing else. */
function requireAtRest(task: LiveTask): void {
  if (task.status !== 'running' || task.attention?.kind === 'plan_review') return;
  throw new Problem('task_running', 'The task is being worked on; stop it first, or wait for its end', {
    phase: task.phase,
    run_id: task.active?.runId ?? null,
  });
}

function requireOpen(task: LiveTask): void {
  if (task.status === 'completed')
    throw new Problem('conflict', 'The task is completed; its record stays as it is');
}

export function editTask(task: LiveTask, command: Command<'EditTask'>): Told[] {
  requireFence(task, command);
  requireAtRest(task);
  requireOpen(task);
  const details: TaskDetails = { ...task.details, ...command.changes };
  if (JSON.stringify(details) === JSON.stringify(task.details)) return [];
  return [{ type: 'TaskEdited', data: { details, fence: command.fence } }];
}

/** The plan can be changed until its first step is taken; from then on it says what was done. */
export function editSteps(task: LiveTask, command: Command<'EditSteps'>): Told[] {
  requireFence(task, command);
  requireAtRest(task);
  requireOpen(task);
  if (task.steps.some(({ status }) => status === 'completed'))
    throw new Problem('conflict', 'Steps of the plan are done already; make a new task for what is left');
  const planned = task.steps.map(({ title, detail }) => ({ title, detail }));
  if (JSON.stringify(planned) === JSON.stringify(command.steps)) return [];
  return [{ type: 'TaskStepsEdited', data: { steps: command.steps, fence: command.fence } }];
}

/** For tasks that a person or an outside agent works through by hand. */
export function completeTask(task: LiveTask, command: Command<'CompleteTask'>): Told[] {
  requireFence(task, command);
  requireAtRest(task);
  requireOpen(task);
  return [{ type: 'TaskCompleted', data: { report: { text: command.report }, byHand: true } }];
}

export function deleteTask(task: LiveTask, command: Command<'DeleteTask'>): Told[] {
  requireFence(task, command);
  requireAtRest(task);
  return [{ type: 'TaskDeleted', data: {} }];
}

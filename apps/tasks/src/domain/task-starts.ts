import { Problem } from '@runyard/contracts';
import { add, draftOf, nextUnit, requestNext } from './phases';
import type { LiveTask, Told } from './task';
import type { Dependency, TaskCommand } from './task-commands';
import { requireUnlocked } from './task-locks';

type Command<Type extends TaskCommand['type']> = Extract<TaskCommand, { type: Type }>;

/** Starts by the end of a dependency, between two by a person: an agent that finds itself blocked time and again needs help (C47). */
export const MOST_AUTOMATIC_STARTS = 3;

export function startTask(task: LiveTask, command: Command<'StartTask'>): Told[] {
  const { asker, note, open, now } = command;
  const reviewed = task.attention?.kind === 'plan_review';
  if (task.status === 'running' && !reviewed) return [];
  requireUnlocked(task, asker, now);
  if (task.status === 'completed') throw new Problem('conflict', 'The task is completed; make a new one');
  requireHope(open);
  const draft = draftOf(task);
  if (open.length > 0) {
    if (task.attention?.kind === 'blocked') return [];
    return [{ type: 'TaskHeld', data: { waitsFor: open.map(({ taskId }) => taskId), note } }];
  }
  add(draft, { type: 'TaskStarted', data: { phase: nextUnit(task).phase, automatic: false, note } });
  requestNext(draft, command);
  return draft.events;
}

/** What was cancelled or deleted will never be completed: waiting for it would be for ever. */
function requireHope(open: readonly Dependency[]): void {
  const hopeless = open.filter(({ status }) => status === 'cancelled' || status === 'deleted');
  if (hopeless.length === 0) return;
  const named = hopeless.map(({ taskId, status }) => `${taskId} is ${status}`).join(', ');
  throw new Problem(
    'task_blocked',
    `The task waits for what will not come: ${named}; take it out of blocked_by`,
    {
      dependencies: hopeless.map(({ taskId, status }) => ({ task_id: taskId, status })),
    },
  );
}

/** A task that waited for others, when they may be completed. */
export function unblock(task: LiveTask, command: Command<'Unblock'>): Told[] {
  if (task.attention?.kind !== 'blocked' || command.open.length > 0) return [];
  if (task.automaticStarts >= MOST_AUTOMATIC_STARTS) {
    const question = `The task was started ${MOST_AUTOMATIC_STARTS} times by itself and is blocked again; a person has to look at it`;
    return [{ type: 'TaskNeedsInput', data: { question, escalated: true } }];
  }
  const draft = draftOf(task);
  add(draft, { type: 'TaskStarted', data: { phase: nextUnit(task).phase, automatic: true, note: null } });
  requestNext(draft, command);
  return draft.events;
}

/** A run that is under way is cancelled first; its end ends the task. Stopping what has ended comes to nothing. */
export function stopTask(task: LiveTask): Told[] {
  if (task.status !== 'running' && task.status !== 'pending') return [];
  if (task.stopping) return [];
  if (task.active !== null) return [{ type: 'TaskStopRequested', data: {} }];
  return [{ type: 'TaskCancelled', data: { reason: 'user' } }];
}

import { Problem } from '@runyard/contracts';
import type { DomainEvent, NewEvent, TaskEvent } from '@runyard/contracts';
import { requireWork } from './rights';
import { requestAgain, requestRefused, runEnded } from './run-ends';
import type { LiveTask, Task, Told } from './task';
import type { TaskCommand } from './task-commands';
import { completeTask, deleteTask, editSteps, editTask } from './task-edits';
import { acquireLock, releaseLock, renewLock } from './task-locks';
import { startTask, stopTask, unblock } from './task-starts';

type Decided<E = TaskEvent> = E extends DomainEvent<infer Name, infer Data> ? NewEvent<Name, Data> : never;

/** Whose task it is, is said with every event (see contracts). */
const told = (userId: string | null, events: readonly Told[]): Decided[] =>
  events.map((event) => ({ type: event.type, data: { ...event.data, userId } }) as Decided);

/** Throws `not_found` where there is no task any more, `forbidden`, and what the command's own rules refuse. */
export function decideTask(task: Task, command: TaskCommand): Decided[] {
  if (command.type === 'CreateTask') {
    if (task.situation !== 'none') throw new Problem('already_exists', 'There is a task of this id');
    const { asker, details, column } = command;
    return told(asker.userId, [{ type: 'TaskCreated', data: { details, column } }]);
  }
  if (task.situation !== 'live') {
    if (!('asker' in command)) return [];
    throw new Problem('not_found', 'There is no such task');
  }
  if ('asker' in command) requireWork(command.asker, task.userId);
  return told(command.type === 'ClearOwner' ? null : task.userId, decideLive(task, command));
}

function decideLive(task: LiveTask, command: Exclude<TaskCommand, { type: 'CreateTask' }>): Told[] {
  switch (command.type) {
    case 'EditTask':
      return editTask(task, command);
    case 'EditSteps':
      return editSteps(task, command);
    case 'CompleteTask':
      return completeTask(task, command);
    case 'DeleteTask':
      return deleteTask(task, command);
    case 'AcquireLock':
      return acquireLock(task, command);
    case 'RenewLock':
      return renewLock(task, command);
    case 'ReleaseLock':
      return releaseLock(task, command);
    case 'StartTask':
      return startTask(task, command);
    case 'StopTask':
      return stopTask(task);
    case 'Unblock':
      return unblock(task, command);
    case 'RunEnded':
      return runEnded(task, command);
    case 'RequestRefused':
      return requestRefused(task, command);
    case 'RequestAgain':
      return requestAgain(task, command);
    case 'ForgetRun':
      return task.runIds.includes(command.runId)
        ? [{ type: 'TaskRunForgotten', data: { runId: command.runId } }]
        : [];
    case 'ClearOwner':
      return task.userId === command.userId ? [{ type: 'TaskOwnerCleared', data: {} }] : [];
    default:
      return command satisfies never;
  }
}

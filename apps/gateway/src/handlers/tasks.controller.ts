import { Controller } from '@nestjs/common';
import {
  createTaskSchema,
  deleteTaskSchema,
  listTasksSchema,
  moveTaskSchema,
  setTaskStepsSchema,
  taskActivitySchema,
  taskGetSchema,
  updateTaskSchema,
} from '@runyard/contracts';
import { FromRequest } from '../door/call';
import type { Call } from '../door/call';
import { Route } from '../door/route';
import { ANYBODY, STARTERS } from './access';
import { changeRow } from './rows';
import { Services } from './services.adapter';
import { cardPlace, taskActivity, taskList, taskRow, taskSteps } from './task-rows';

const tag = 'tasks';
/** Refusals of what is edited under a lock. */
export const EDIT_PROBLEMS = ['task_lock_lost', 'task_running', 'conflict'] as const;

const THEN =
  '`as_of`: a position in the log or a time; what was deleted since is shown as it was, what was erased is not.';
/** A board as it was is made anew from all that happened on it. */
const PAST_BOARD_MS = 30_000;

/** Tasks on the board: passed on to the service that has them. */
@Controller()
export class TasksController {
  constructor(private readonly services: Services) {}

  @Route({
    method: 'POST',
    path: '/v1/tasks',
    name: 'tasks.create',
    tag,
    summary: 'Put a task on the board',
    access: STARTERS,
    input: createTaskSchema,
    success: [{ status: 201, description: 'The task, pending', body: taskRow }],
    idempotency: 'replayed',
  })
  create(@FromRequest() call: Call): Promise<unknown> {
    return this.services.tasks(call, 'tasks.create');
  }

  @Route({
    method: 'GET',
    path: '/v1/tasks',
    name: 'tasks.list',
    tag,
    summary: 'List tasks',
    description: `With \`column\` the cards of that column in their order; otherwise all tasks, newest first. ${THEN}`,
    access: ANYBODY,
    input: listTasksSchema,
    success: [{ status: 200, description: 'A page of tasks', body: taskList }],
    problems: ['invalid_cursor'],
  })
  list(@FromRequest() call: Call<{ as_of?: string }>): Promise<unknown> {
    const timeoutMs = call.input.as_of === undefined ? undefined : PAST_BOARD_MS;
    return this.services.tasks(call, 'tasks.list', call.input, timeoutMs);
  }

  @Route({
    method: 'GET',
    path: '/v1/tasks/activity',
    name: 'tasks.activity',
    tag,
    summary: 'Read what happened on the board, newest first',
    access: ANYBODY,
    input: taskActivitySchema,
    success: [{ status: 200, description: 'A page of activity', body: taskActivity }],
    problems: ['invalid_cursor'],
  })
  activity(@FromRequest() call: Call): Promise<unknown> {
    return this.services.tasks(call, 'tasks.activity');
  }

  @Route({
    method: 'GET',
    path: '/v1/tasks/:task_id',
    name: 'tasks.get',
    tag,
    summary: 'Read a task with its lock and its dependencies',
    description: THEN,
    access: ANYBODY,
    input: taskGetSchema,
    success: [{ status: 200, description: 'The task', body: taskRow }],
  })
  get(@FromRequest() call: Call): Promise<unknown> {
    return this.services.tasks(call, 'tasks.get');
  }

  @Route({
    method: 'PATCH',
    path: '/v1/tasks/:task_id',
    name: 'tasks.update',
    tag,
    summary: 'Change a task under its lock',
    access: STARTERS,
    input: updateTaskSchema,
    success: [{ status: 200, description: 'The task afterwards', body: taskRow }],
    problems: EDIT_PROBLEMS,
  })
  update(@FromRequest() call: Call): Promise<unknown> {
    return this.services.tasks(call, 'tasks.update');
  }

  @Route({
    method: 'DELETE',
    path: '/v1/tasks/:task_id',
    name: 'tasks.delete',
    tag,
    summary: 'Delete a task under its lock, with its steps and its lock',
    access: STARTERS,
    input: deleteTaskSchema,
    success: [{ status: 200, description: 'Deleted; its runs stay', body: changeRow }],
    problems: EDIT_PROBLEMS,
  })
  delete(@FromRequest() call: Call): Promise<unknown> {
    return this.services.tasks(call, 'tasks.delete');
  }

  @Route({
    method: 'GET',
    path: '/v1/tasks/:task_id/steps',
    name: 'tasks.steps',
    tag,
    summary: 'Read the plan and what came of it',
    description: THEN,
    access: ANYBODY,
    input: taskGetSchema,
    success: [{ status: 200, description: 'The steps in order', body: taskSteps }],
  })
  steps(@FromRequest() call: Call): Promise<unknown> {
    return this.services.tasks(call, 'tasks.steps');
  }

  @Route({
    method: 'PUT',
    path: '/v1/tasks/:task_id/steps',
    name: 'tasks.set_steps',
    tag,
    summary: 'Write the plan by hand, before its first step is done',
    description: 'A task that has steps when it is started goes on with *act*; none: it is planned anew.',
    access: STARTERS,
    input: setTaskStepsSchema,
    success: [{ status: 200, description: 'The task afterwards', body: taskRow }],
    problems: EDIT_PROBLEMS,
  })
  setSteps(@FromRequest() call: Call): Promise<unknown> {
    return this.services.tasks(call, 'tasks.set_steps');
  }

  @Route({
    method: 'POST',
    path: '/v1/tasks/:task_id/move',
    name: 'tasks.move',
    tag,
    summary: 'Move a card to a column and place',
    description:
      'Needs no lock, and is refused while somebody else holds the task. All movers see one order.',
    access: STARTERS,
    input: moveTaskSchema,
    success: [{ status: 200, description: 'Where it stands now', body: cardPlace }],
    problems: ['task_locked', 'conflict'],
  })
  move(@FromRequest() call: Call): Promise<unknown> {
    return this.services.tasks(call, 'tasks.move');
  }
}

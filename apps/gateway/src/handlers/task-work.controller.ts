import { Controller } from '@nestjs/common';
import { completeTaskSchema, startTaskSchema, taskReadSchema, taskRefSchema } from '@runyard/contracts';
import { FromRequest } from '../door/call';
import type { Call } from '../door/call';
import { Route } from '../door/route';
import { ANYBODY, STARTERS } from './access';
import { Services } from './services.adapter';
import { taskRow, taskRuns } from './task-rows';
import { EDIT_PROBLEMS } from './tasks.controller';

const tag = 'tasks';
/** A stop waits for the run's end. */
const STOP_MS = 15_000;

/** The work on a task: starting, stopping, and what it has come to. */
@Controller()
export class TaskWorkController {
  constructor(private readonly services: Services) {}

  @Route({
    method: 'POST',
    path: '/v1/tasks/:task_id/start',
    name: 'tasks.start',
    tag,
    summary: 'Have the agent work on a task, or go on with it',
    description:
      'Goes on where it was: after a review of the plan, an answer to a question (`note`), a failure or a stop. A task with open dependencies starts by itself when they are completed.',
    access: STARTERS,
    input: startTaskSchema,
    success: [{ status: 200, description: 'The task: running, or waiting for others', body: taskRow }],
    problems: ['task_locked', 'task_blocked', 'conflict'],
  })
  start(@FromRequest() call: Call): Promise<unknown> {
    return this.services.tasks(call, 'tasks.start');
  }

  @Route({
    method: 'POST',
    path: '/v1/tasks/:task_id/stop',
    name: 'tasks.stop',
    tag,
    summary: 'Stop a task: its run is cancelled',
    description: 'Answers when the run has ended; where that takes long, with `stopping: true`.',
    access: STARTERS,
    input: taskRefSchema,
    success: [{ status: 200, description: 'The task: cancelled, or being stopped', body: taskRow }],
  })
  stop(@FromRequest() call: Call): Promise<unknown> {
    return this.services.tasks(call, 'tasks.stop', call.input, STOP_MS);
  }

  @Route({
    method: 'POST',
    path: '/v1/tasks/:task_id/complete',
    name: 'tasks.complete',
    tag,
    summary: 'Complete a task that was worked on by hand, under its lock',
    access: STARTERS,
    input: completeTaskSchema,
    success: [{ status: 200, description: 'The task, completed', body: taskRow }],
    problems: EDIT_PROBLEMS,
  })
  complete(@FromRequest() call: Call): Promise<unknown> {
    return this.services.tasks(call, 'tasks.complete');
  }

  @Route({
    method: 'GET',
    path: '/v1/tasks/:task_id/runs',
    name: 'tasks.runs',
    tag,
    summary: 'Read the runs of a task and what they spent',
    access: ANYBODY,
    input: taskReadSchema,
    success: [{ status: 200, description: 'Newest first', body: taskRuns }],
  })
  runs(@FromRequest() call: Call): Promise<unknown> {
    return this.services.tasks(call, 'tasks.runs');
  }
}

import { Controller } from '@nestjs/common';
import {
  claimTaskSchema,
  lockTaskSchema,
  releaseLockSchema,
  renewLockSchema,
  taskRefSchema,
} from '@runyard/contracts';
import { FromRequest } from '../door/call';
import type { Call } from '../door/call';
import { Route } from '../door/route';
import { ANYBODY, STARTERS } from './access';
import { Services } from './services.adapter';
import { claimAnswer, lockAnswer } from './task-rows';

const tag = 'tasks';
const path = '/v1/tasks/:task_id/lock';

/** Locks of tasks: a lease with a fencing token that every edit carries. */
@Controller()
export class TaskLocksController {
  constructor(private readonly services: Services) {}

  @Route({
    method: 'POST',
    path,
    name: 'tasks.lock',
    tag,
    summary: 'Lock a task for edits',
    description:
      'An expired lock is taken over; a live one only by an admin with `steal`. The same `lock_id` again is the same lock.',
    access: STARTERS,
    input: lockTaskSchema,
    success: [{ status: 200, description: 'The lock and its fence', body: lockAnswer }],
    problems: ['task_locked'],
  })
  lock(@FromRequest() call: Call): Promise<unknown> {
    return this.services.tasks(call, 'tasks.lock');
  }

  @Route({
    method: 'PUT',
    path,
    name: 'tasks.renew_lock',
    tag,
    summary: 'Renew a live lock (heartbeat)',
    access: STARTERS,
    input: renewLockSchema,
    success: [{ status: 200, description: 'The lock with its new end', body: lockAnswer }],
    problems: ['task_lock_lost'],
  })
  renew(@FromRequest() call: Call): Promise<unknown> {
    return this.services.tasks(call, 'tasks.renew_lock');
  }

  @Route({
    method: 'DELETE',
    path,
    name: 'tasks.release_lock',
    tag,
    summary: 'Release a lock',
    access: STARTERS,
    input: releaseLockSchema,
    success: [{ status: 200, description: 'Nobody holds the task', body: lockAnswer }],
    problems: ['task_lock_lost'],
  })
  release(@FromRequest() call: Call): Promise<unknown> {
    return this.services.tasks(call, 'tasks.release_lock');
  }

  @Route({
    method: 'GET',
    path,
    name: 'tasks.get_lock',
    tag,
    summary: 'Read who holds a task',
    access: ANYBODY,
    input: taskRefSchema,
    success: [{ status: 200, description: 'The lock; null: nobody', body: lockAnswer }],
  })
  get(@FromRequest() call: Call): Promise<unknown> {
    return this.services.tasks(call, 'tasks.get_lock');
  }

  @Route({
    method: 'POST',
    path: '/v1/tasks/claim',
    name: 'tasks.claim',
    tag,
    summary: 'Lock the next task that nobody is at work on',
    description:
      'For people and outside agents that take work from the board. Of callers at once each gets another task.',
    access: STARTERS,
    input: claimTaskSchema,
    success: [{ status: 200, description: 'The task and its lock, or null', body: claimAnswer }],
  })
  claim(@FromRequest() call: Call): Promise<unknown> {
    return this.services.tasks(call, 'tasks.claim');
  }
}

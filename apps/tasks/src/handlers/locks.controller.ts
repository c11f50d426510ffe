import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import {
  Problem,
  claimTaskSchema,
  lockTaskSchema,
  releaseLockSchema,
  renewLockSchema,
  taskRefSchema,
} from '@runyard/contracts';
import type { Caller, TaskLockRow } from '@runyard/contracts';
import type { Database } from '@runyard/persistence';
import { DATABASE, RpcMethod } from '@runyard/service';
import { requireSight, seesAll } from '../domain/rights';
import { claimable } from '../projections/task.queries';
import { WatchQueries } from '../projections/watch.queries';
import { askerOf, orgOf, parsed } from './requests';
import { NO_TASK_HERE, lockRow } from './task-answers';
import { TasksLog } from './tasks-log.adapter';
import type { TaskCommand } from '../domain/task-commands';

/** A lock after a command, and where the log stands. */
interface LockAnswer {
  task_id: string;
  lock: TaskLockRow | null;
  position: string;
}

/** RPC of tasks' locks. Answers come from the log: rows may lag, and whoever has a lock must know. */
@Injectable()
export class LocksController {
  constructor(
    @Inject(TasksLog) private readonly tasks: TasksLog,
    @Inject(WatchQueries) private readonly clock: WatchQueries,
    @Inject(DATABASE) private readonly db: Database,
  ) {}

  @RpcMethod('tasks.lock')
  acquire(caller: Caller, body: unknown): Promise<LockAnswer> {
    const {
      task_id: taskId,
      lock_id: lockId = randomUUID(),
      ttl_seconds: ttl,
      steal,
    } = parsed(lockTaskSchema, body);
    const wish = { type: 'AcquireLock', lockId, ttlMs: ttl * 1_000, steal } as const;
    return this.act(caller, taskId, (now) => ({ ...wish, asker: askerOf(caller), now }));
  }

  @RpcMethod('tasks.renew_lock')
  renew(caller: Caller, body: unknown): Promise<LockAnswer> {
    const { task_id: taskId, fence, ttl_seconds: ttl } = parsed(renewLockSchema, body);
    const wish = { type: 'RenewLock', fence, ttlMs: ttl * 1_000 } as const;
    return this.act(caller, taskId, (now) => ({ ...wish, asker: askerOf(caller), now }));
  }

  @RpcMethod('tasks.release_lock')
  release(caller: Caller, body: unknown): Promise<LockAnswer> {
    const { task_id: taskId, fence } = parsed(releaseLockSchema, body);
    return this.act(caller, taskId, (now) => ({ type: 'ReleaseLock', fence, asker: askerOf(caller), now }));
  }

  @RpcMethod('tasks.get_lock')
  async get(caller: Caller, body: unknown): Promise<{ task_id: string; lock: TaskLockRow | null }> {
    const { task_id: taskId } = parsed(taskRefSchema, body);
    const org = orgOf(caller);
    const [task, now] = await Promise.all([this.tasks.read(org, taskId), this.clock.now(org)]);
    if (task.situation !== 'live') throw new Problem('not_found', NO_TASK_HERE);
    requireSight(askerOf(caller), task.userId);
    return { task_id: taskId, lock: lockRow(task, now) };
  }

  /**
   * Locks the first task that nobody is at work on. Rows say which to try, the log decides who gets it: of any number of
   * callers at once each gets another one, or none.
   */
  @RpcMethod('tasks.claim')
  async claim(caller: Caller, body: unknown): Promise<LockAnswer | { task_id: null; lock: null }> {
    const { lock_id: lockId, ttl_seconds: ttl, ...filter } = parsed(claimTaskSchema, body);
    const [org, asker] = [orgOf(caller), askerOf(caller)];
    if (!seesAll(asker) && asker.userId === null)
      throw new Problem('forbidden', 'The credential stands for nobody who has tasks');
    const user_id = seesAll(asker) ? undefined : (asker.userId ?? undefined);
    for (const taskId of await this.db.inOrg(org, (tx) => claimable(tx, { ...filter, user_id }))) {
      try {
        return await this.acquire(caller, { task_id: taskId, lock_id: lockId, ttl_seconds: ttl });
      } catch (error) {
        const taken = error instanceof Problem && ['task_locked', 'not_found'].includes(error.code);
        if (!taken) throw error;
      }
    }
    return { task_id: null, lock: null };
  }

  private async act(
    caller: Caller,
    taskId: string,
    command: (now: number) => TaskCommand,
  ): Promise<LockAnswer> {
    const org = orgOf(caller);
    const now = await this.clock.now(org);
    const { state, position } = await this.tasks.act(org, taskId, command(now), caller);
    return { task_id: taskId, lock: state.situation === 'live' ? lockRow(state, now) : null, position };
  }
}

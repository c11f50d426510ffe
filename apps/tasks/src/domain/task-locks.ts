import { Problem } from '@runyard/contracts';
import type { TaskLock } from '@runyard/contracts';
import { mayBreakLocks } from './rights';
import type { Asker } from './rights';
import type { LiveTask, Told } from './task';
import type { TaskCommand, UnderLock } from './task-commands';

// Invariants of a task's locks, kept by the task's one log:
// L1 A fence is given once: every ownership has the next number, whoever has it.
// L2 At most one lock lives at any instant: one is given only where none lives, or in place of the one that it supersedes.
// L3 A write is accepted only with the fence of the living lock and from its holder; the append itself proves that no
//    other lock was given in between.
// L4 Expiry is no event: a lock is dead from its instant on.

type Command<Type extends TaskCommand['type']> = Extract<TaskCommand, { type: Type }>;

/** The lock that lives at `now`. */
export const livingLock = ({ lock }: LiveTask, now: number): TaskLock | null =>
  lock !== null && lock.expiresAt > now ? lock : null;

const factsOf = (lock: TaskLock): Record<string, unknown> => ({
  holder: lock.holder,
  fence: lock.fence,
  expires_at: new Date(lock.expiresAt).toISOString(),
});

const until = ({ expiresAt }: TaskLock): string => new Date(expiresAt).toISOString();

function locked(lock: TaskLock): Problem {
  return new Problem(
    'task_locked',
    `The task is locked by ${lock.holder} until ${until(lock)}`,
    factsOf(lock),
  );
}

/** L3. Throws `task_lock_lost`, which says who holds the task now. */
export function requireFence(task: LiveTask, { asker, fence, now }: UnderLock): void {
  const lock = livingLock(task, now);
  if (lock?.fence === fence && lock.holder === asker.actor) return;
  if (lock)
    throw new Problem(
      'task_lock_lost',
      `Lock ${fence} is not the task's; ${lock.holder} holds it until ${until(lock)}`,
      {
        ...factsOf(lock),
        your_fence: fence,
      },
    );
  const detail = 'Nobody holds a live lock of the task; acquire it, read the task again and repeat the edit';
  throw new Problem('task_lock_lost', detail, { holder: null, fence: task.fence, your_fence: fence });
}

/** What needs no lock must not go past somebody else's either. Throws `task_locked`. */
export function requireUnlocked(task: LiveTask, { actor }: Asker, now: number): void {
  const lock = livingLock(task, now);
  if (lock && lock.holder !== actor) throw locked(lock);
}

export function acquireLock(task: LiveTask, command: Command<'AcquireLock'>): Told[] {
  const { asker, lockId, ttlMs, steal, now } = command;
  const lock = livingLock(task, now);
  if (lock?.lockId === lockId && lock.holder === asker.actor) return [];
  if (lock && !steal) throw locked(lock);
  if (lock && !mayBreakLocks(asker))
    throw new Problem(
      'forbidden',
      'Only an admin may take a live lock from its holder; wait until it expires',
      {
        required_role: 'admin',
        ...factsOf(lock),
      },
    );
  const own = { fence: task.fence + 1, lockId, holder: asker.actor, expiresAt: now + ttlMs };
  return [{ type: 'TaskLockAcquired', data: { ...own, superseded: task.lock } }];
}

export function renewLock(task: LiveTask, command: Command<'RenewLock'>): Told[] {
  requireFence(task, command);
  const { fence, now, ttlMs } = command;
  // A renewal never shortens: two of them may arrive in the other order.
  const expiresAt = Math.max(now + ttlMs, task.lock?.expiresAt ?? 0);
  return expiresAt === task.lock?.expiresAt ? [] : [{ type: 'TaskLockRenewed', data: { fence, expiresAt } }];
}

/** Releasing what is released already is harmless; releasing what is somebody else's is refused. */
export function releaseLock(task: LiveTask, command: Command<'ReleaseLock'>): Told[] {
  const { fence, now } = command;
  if (task.lock === null && fence === task.fence) return [];
  const expired = task.lock?.fence === fence && task.lock.holder === command.asker.actor;
  if (!expired) requireFence(task, { asker: command.asker, fence, now });
  return [{ type: 'TaskLockReleased', data: { fence } }];
}

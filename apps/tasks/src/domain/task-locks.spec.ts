import type { TaskEvent } from '@runyard/contracts';
import { Problem } from '@runyard/contracts';
import { deciderSpec } from '@runyard/testing';
import fc from 'fast-check';
import { decideTask } from './decide';
import type { Asker } from './rights';
import { NO_TASK } from './task';
import type { Task } from './task';
import type { TaskCommand } from './task-commands';
import { evolveTask } from './task-evolution';

const TASK = { initial: NO_TASK, evolve: evolveTask, decide: decideTask };
const given = deciderSpec<Task, TaskCommand, TaskEvent>(TASK);
const OWNER = 'u1';
const asker = (name: string, roles: Asker['roles'] = ['service']): Asker => ({
  actor: `service:${name}`,
  userId: null,
  roles,
});
const details = {
  title: 'T',
  description: '',
  acceptance: '',
  agentId: 'a',
  modelId: null,
  maxSteps: 25,
  blockedBy: [],
  reviewPlan: false,
};
const created = { type: 'TaskCreated', data: { details, column: 'todo', userId: OWNER } } as const;
const locked = (fence: number, holder: string, expiresAt: number, lockId = 'l') =>
  ({
    type: 'TaskLockAcquired',
    data: { fence, lockId, holder: `service:${holder}`, expiresAt, superseded: null, userId: OWNER },
  }) as const;
const acquire = (name: string, now: number, more: object = {}): TaskCommand => ({
  type: 'AcquireLock',
  asker: asker(name),
  lockId: `${name}-${now}`,
  ttlMs: 60,
  steal: false,
  now,
  ...more,
});
const edit = (name: string, fence: number, now: number, title = 'X'): TaskCommand => ({
  type: 'EditTask',
  asker: asker(name),
  fence,
  now,
  changes: { title },
});

describe('a lock', () => {
  it('is given where nobody holds one, with the next fence', () => {
    given(created, locked(4, 'one', 100))
      .when(acquire('two', 100))
      .then({
        type: 'TaskLockAcquired',
        data: {
          fence: 5,
          lockId: 'two-100',
          holder: 'service:two',
          expiresAt: 160,
          superseded: { fence: 4, lockId: 'l', holder: 'service:one', expiresAt: 100 },
          userId: OWNER,
        },
      });
  });

  it('is refused while another one lives, and says whose it is', () => {
    const live = given(created, locked(1, 'one', 100));
    live.when(acquire('two', 99)).thenRefused('task_locked');
    live.when(acquire('two', 99)).thenRefused(/service:one/);
    live.when(acquire('two', 99, { steal: true })).thenRefused('forbidden');
    expect(
      live.when(acquire('two', 99, { steal: true, asker: asker('two', ['admin']) })).decided(),
    ).toHaveLength(1);
  });

  it('is the same when asked for again with its id, and another attempt with another', () => {
    const live = given(created, locked(1, 'one', 100));
    live.when(acquire('one', 99, { lockId: 'l' })).thenNothing();
    live.when(acquire('one', 99, { lockId: 'm' })).thenRefused('task_locked');
  });

  it('is dead from its last instant on, without any event', () => {
    const lock = given(created, locked(1, 'one', 100));
    lock.when(edit('one', 1, 99)).then({
      type: 'TaskEdited',
      data: { details: { ...details, title: 'X' }, fence: 1, userId: OWNER },
    });
    lock.when(edit('one', 1, 100)).thenRefused('task_lock_lost');
    lock
      .when({ type: 'RenewLock', asker: asker('one'), fence: 1, ttlMs: 60, now: 100 })
      .thenRefused('task_lock_lost');
  });

  it('does not protect who only knows its fence', () => {
    given(created, locked(1, 'one', 100))
      .when(edit('two', 1, 50))
      .thenRefused('task_lock_lost');
  });

  it('tells its old holder who has it now', () => {
    const stolen = given(created, locked(1, 'one', 100), locked(2, 'two', 300));
    stolen.when(edit('one', 1, 200)).thenRefused(/service:two/);
    stolen
      .when({ type: 'ReleaseLock', asker: asker('one'), fence: 1, now: 200 })
      .thenRefused('task_lock_lost');
  });

  test('C45 a superseded handle of the same holder renews, releases and edits nothing (xorbitsai/xagent#1230)', () => {
    const again = given(created, locked(1, 'one', 100, 'first'), locked(2, 'one', 300, 'second'));
    const stale = { asker: asker('one'), fence: 1, now: 200 };
    again.when({ type: 'RenewLock', ttlMs: 60, ...stale }).thenRefused('task_lock_lost');
    again.when({ type: 'ReleaseLock', ...stale }).thenRefused('task_lock_lost');
    again.when(edit('one', 1, 200)).thenRefused('task_lock_lost');
    again.when({ type: 'DeleteTask', ...stale }).thenRefused('task_lock_lost');
    again.when({ type: 'ReleaseLock', asker: asker('one'), fence: 2, now: 200 }).then({
      type: 'TaskLockReleased',
      data: { fence: 2, userId: OWNER },
    });
  });
});

/** What a lock is, said a second time and differently: one owner at most, until an instant. */
interface Model {
  fence: number;
  owner: { name: string; fence: number; until: number } | null;
}

describe('histories of locks', () => {
  const names = ['a', 'b', 'c'];
  const step = fc.record({
    who: fc.constantFrom(...names),
    what: fc.constantFrom('acquire', 'steal', 'renew', 'release', 'edit'),
    /** Which of the fences that he was ever given he still uses: 0 is the newest. */
    stale: fc.nat(2),
    passes: fc.nat(50),
    borrowed: fc.boolean(),
  });

  it('are linearizable: no fence twice, no two holders, no write from a superseded holder', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        let task = evolveTask(NO_TASK, { ...created, time: 0, actor: 'system:t' });
        let now = 0;
        let writes = 0;
        const model: Model = { fence: 0, owner: null };
        const had = new Map<string, number[]>(names.map((name) => [name, []]));
        const given = new Set<number>();
        for (const { who, what, stale, passes, borrowed } of steps) {
          now += passes;
          const fences = had.get(borrowed ? names[(names.indexOf(who) + 1) % 3]! : who)!;
          const fence = fences.at(-1 - stale) ?? 1;
          const living = model.owner && model.owner.until > now ? model.owner : null;
          const mine = living?.name === who && living.fence === fence;
          const command = commandOf(what, who, fence, now, `write ${writes++}`);
          let refused = false;
          try {
            for (const event of decideTask(task, command)) {
              task = evolveTask(task, { ...event, time: now, actor: 'system:t' } as TaskEvent);
              if (event.type !== 'TaskLockAcquired') continue;
              expect(given.has(event.data.fence)).toBe(false);
              given.add(event.data.fence);
              had.get(who)!.push(event.data.fence);
            }
          } catch (error) {
            expect(error).toBeInstanceOf(Problem);
            refused = true;
          }
          follow(model, { what, who, now, mine, living, refused });
          const lock = task.situation === 'live' ? task.lock : null;
          const holder = lock && lock.expiresAt > now ? { holder: lock.holder, fence: lock.fence } : null;
          const expected = model.owner && model.owner.until > now ? model.owner : null;
          expect(holder).toEqual(expected && { holder: `service:${expected.name}`, fence: expected.fence });
        }
      }),
      { numRuns: 500 },
    );
  });

  function commandOf(what: string, who: string, fence: number, now: number, title: string): TaskCommand {
    const by = { asker: asker(who, what === 'steal' ? ['admin'] : ['service']), fence, now };
    switch (what) {
      case 'renew':
        return { type: 'RenewLock', ttlMs: 60, ...by };
      case 'release':
        return { type: 'ReleaseLock', ...by };
      case 'edit':
        return { type: 'EditTask', changes: { title }, ...by };
      default:
        return {
          type: 'AcquireLock',
          asker: by.asker,
          lockId: title.replace(' ', '-'),
          ttlMs: 60,
          steal: what === 'steal',
          now,
        };
    }
  }

  function follow(
    model: Model,
    at: { what: string; who: string; now: number; mine: boolean; living: Model['owner']; refused: boolean },
  ): void {
    const { what, who, now, mine, living, refused } = at;
    if (what === 'acquire' || what === 'steal') {
      expect(refused).toBe(living !== null && what === 'acquire');
      if (!refused) model.owner = { name: who, fence: ++model.fence, until: now + 60 };
    } else if (what === 'renew') {
      expect(refused).toBe(!mine);
      if (mine && model.owner) model.owner.until = now + 60;
    } else if (what === 'edit') expect(refused).toBe(!mine);
    else if (mine) {
      expect(refused).toBe(false);
      model.owner = null;
    } else if (living) {
      // Nobody but its owner ever frees a living lock.
      expect(model.owner).toBe(living);
    }
  }
});

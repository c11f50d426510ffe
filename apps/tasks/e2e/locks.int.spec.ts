import type { TaskLockRow } from '@runyard/contracts';
import { Problem } from '@runyard/contracts';
import { eventually } from '@runyard/testing';
import { World } from './world';

jest.setTimeout(240_000);

const ROUNDS = 200;

interface Locked {
  task_id: string | null;
  lock: TaskLockRow | null;
}

describe('locks on real servers', () => {
  let world: World;
  beforeAll(async () => {
    // Two boards decide side by side: their only arbiter is the log.
    world = await World.start(2);
  });
  afterAll(() => world?.stop());

  const names = Array.from({ length: 8 }, (_, i) => `agent-${i}`);
  const refusal = (error: unknown): Problem => {
    if (error instanceof Problem) return error;
    throw error;
  };
  const attempt = <T>(work: Promise<T>) =>
    work.then(
      (value) => ({ value, refused: null }),
      (error: unknown) => ({ value: null, refused: refusal(error) }),
    );
  const race = (method: string, input: object) =>
    Promise.all(names.map((name) => attempt(world.call<Locked>(method, input, world.caller(name)))));
  const fences = async (taskId: string) =>
    (await world.events(taskId)).flatMap((event) =>
      event.type === 'TaskLockAcquired' ? [event.data.fence] : [],
    );

  test('C43 of eight who claim at once one wins, the others are told who and until when (macanderson/stella#1680)', async () => {
    const taskId = await world.task();
    for (let round = 1; round <= ROUNDS; round++) {
      const answers = await race('lock', { task_id: taskId, ttl_seconds: 60 });
      const won = answers.flatMap(({ value }) => (value?.lock ? [value.lock] : []));
      expect(won).toHaveLength(1);
      expect(won[0]).toMatchObject({ fence: round, expired: false });
      for (const { refused } of answers)
        if (refused)
          expect(refused).toMatchObject({
            code: 'task_locked',
            facts: { holder: won[0]!.holder, expires_at: won[0]!.expires_at },
          });
      const holder = world.caller(won[0]!.holder.replace('service:', ''));
      await world.call('release_lock', { task_id: taskId, fence: round }, holder);
    }
    expect(await fences(taskId)).toEqual(Array.from({ length: ROUNDS }, (_, i) => i + 1));
  });

  test('C43 an expired lock is shown as expired at once and won by one of eight (macanderson/stella#1680)', async () => {
    const taskId = await world.task();
    await world.call('lock', { task_id: taskId, ttl_seconds: 5 }, world.caller('agent-0'));
    const row = await world.until<{ lock: TaskLockRow }>(taskId, ({ lock }) => lock?.expired);
    expect(row.lock).toMatchObject({ fence: 1, holder: 'service:agent-0' });
    const answers = await race('lock', { task_id: taskId, ttl_seconds: 60 });
    expect(answers.filter(({ value }) => value !== null)).toHaveLength(1);
    expect(await fences(taskId)).toEqual([1, 2]);
  });

  test('C43 eight who take the next of three tasks get three different ones, and five get none (macanderson/stella#1680)', async () => {
    const tasks = await Promise.all([1, 2, 3].map(() => world.task({ column: 'claims' })));
    // Rows say which to try, and the place on the board is told after the task.
    await eventually(async () => {
      const { data } = await world.call<{ data: unknown[] }>('list', { column: 'claims' });
      return data.length === 3;
    });
    const answers = await race('claim', { column: 'claims' });
    const claimed = answers.map(({ value, refused }) => (refused ? 'refused' : value?.task_id));
    expect(claimed.filter((id) => id === null)).toHaveLength(5);
    expect(new Set(claimed.filter((id) => id !== null))).toEqual(new Set(tasks));
  });

  test('C44 a holder that slept through its lock overwrites nothing and is told who holds it (pikkujs/pikku#1742)', async () => {
    const taskId = await world.task();
    const [one, two] = [world.caller('one'), world.caller('two')];
    const mine = await world.call<Locked>('lock', { task_id: taskId, ttl_seconds: 5 }, one);
    await world.until<{ lock: TaskLockRow }>(taskId, ({ lock }) => lock?.expired);
    const theirs = await world.call<Locked>('lock', { task_id: taskId, ttl_seconds: 600 }, two);
    const stale = { task_id: taskId, fence: mine.lock!.fence };
    const renewed = await attempt(world.call('renew_lock', { ...stale, ttl_seconds: 600 }, one));
    const completed = await attempt(world.call('complete', { ...stale, report: 'result 1' }, one));
    for (const { refused } of [renewed, completed])
      expect(refused).toMatchObject({
        code: 'task_lock_lost',
        facts: { holder: 'service:two', fence: theirs.lock!.fence, your_fence: 1 },
      });
    const { status, report } = await world.call<{ status: string; report: string }>(
      'complete',
      { task_id: taskId, fence: theirs.lock!.fence, report: 'result 2' },
      two,
    );
    expect({ status, report }).toEqual({ status: 'completed', report: 'result 2' });
  });

  test('C44 a board that slept with the write in hand cannot append it (pikkujs/pikku#1742)', async () => {
    const taskId = await world.task();
    for (const board of world.boards.splice(0)) await board.close();
    const child = await world.child();
    const one = world.caller('one');
    const mine = await world.call<Locked>('lock', { task_id: taskId, ttl_seconds: 5 }, one);
    const title = async () => (await world.call<{ title: string }>('get', { task_id: taskId })).title;
    // It stands still while the edit lies with it, until the lock has expired.
    child.process.kill('SIGSTOP');
    const late = attempt(
      world.call('update', { task_id: taskId, fence: mine.lock!.fence, title: 'late' }, one),
    );
    await eventually(() => Date.now() > Date.parse(mine.lock!.expires_at), {
      withinMs: 30_000,
      everyMs: 100,
    });
    child.process.kill('SIGCONT');
    expect((await late).refused?.code).toBe('task_lock_lost');
    await world.call('lock', { task_id: taskId, ttl_seconds: 600 }, world.caller('two'));
    expect(await title()).toBe('T');
    expect((await world.events(taskId)).some(({ type }) => type === 'TaskEdited')).toBe(false);
    await child.kill();
    world.boards.push(await world.board(), await world.board());
  });

  test('C45 a superseded handle of the same process changes nothing (xorbitsai/xagent#1230)', async () => {
    const taskId = await world.task();
    const worker = world.caller('worker');
    const first = await world.call<Locked>(
      'lock',
      { task_id: taskId, ttl_seconds: 5, lock_id: 'attempt-1' },
      worker,
    );
    await world.until<{ lock: TaskLockRow }>(taskId, ({ lock }) => lock?.expired);
    const second = await world.call<Locked>(
      'lock',
      { task_id: taskId, ttl_seconds: 600, lock_id: 'attempt-2' },
      worker,
    );
    const stale = { task_id: taskId, fence: first.lock!.fence };
    for (const [method, more] of [
      ['renew_lock', { ttl_seconds: 600 }],
      ['release_lock', {}],
      ['complete', { report: 'failed' }],
    ] as const)
      expect((await attempt(world.call(method, { ...stale, ...more }, worker))).refused?.code).toBe(
        'task_lock_lost',
      );
    const { lock } = await world.call<Locked>('get_lock', { task_id: taskId }, worker);
    expect(lock).toEqual(second.lock);
  });

  test('an edit without a lock is refused, a move past another’s lock as well, and a stop never', async () => {
    const taskId = await world.task();
    const edit = { task_id: taskId, fence: 1, title: 'X' };
    expect((await attempt(world.call('update', edit))).refused).toMatchObject({
      code: 'task_lock_lost',
      facts: { holder: null },
    });
    await world.call('lock', { task_id: taskId }, world.caller('one'));
    for (const [method, input] of [
      ['move', { column: 'done' }],
      ['start', {}],
    ] as const)
      expect((await attempt(world.call(method, { task_id: taskId, ...input }))).refused).toMatchObject({
        code: 'task_locked',
        facts: { holder: 'service:one' },
      });
    expect(await world.call('stop', { task_id: taskId })).toMatchObject({ status: 'cancelled' });
  });
});

import { randomUUID } from 'node:crypto';
import { BOARD_EVENTS, BOARD_ID, subjectOf } from '@runyard/contracts';
import type { BoardEvent, Caller, TaskActivityRow, TaskRow } from '@runyard/contracts';
import { decodeEvents, streamSource } from '@runyard/event-log';
import { rebuildAndCompare } from '@runyard/persistence';
import { eventually } from '@runyard/testing';
import { TASKS_PROJECTIONS } from '../src/projections';
import { World } from './world';

jest.setTimeout(240_000);

describe('tasks whose owner leaves', () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start(2);
  });
  afterAll(() => world?.stop());

  const person = (userId: string): Caller => ({
    org: world.org,
    actor: `user:${userId}`,
    userId,
    roles: ['member'],
  });
  const admin = (): Caller => ({ ...person(randomUUID()), roles: ['admin'] });
  const taskOf = (userId: string) =>
    world
      .append('agents', `of-${userId}`, [
        { type: 'AgentCreated', data: { ownerId: userId, behaviour: { tools: [], modelId: null } } },
      ])
      .then(() => world.task({ agent_id: `of-${userId}` }, person(userId)));
  const get = (task_id: string, caller: Caller) => world.call<TaskRow>('get', { task_id }, caller);

  test('a deleted owner’s tasks are nobody’s: admins go on with them, and no row names him as whose they are', async () => {
    const [gone, stays] = [randomUUID(), randomUUID()];
    const [first, second, other] = [await taskOf(gone), await world.task({}, admin()), await taskOf(stays)];
    const another = await world.task({ agent_id: `of-${gone}` }, person(gone));
    await world.user(gone, 'UserDeleted');
    for (const taskId of [first, another])
      await eventually(async () => (await get(taskId, admin())).user_id === null, { withinMs: 60_000 });
    expect((await get(other, admin())).user_id).toBe(stays);
    expect((await get(second, admin())).user_id).not.toBe(gone);
    // Not even a credential that still stands for him opens them.
    await expect(get(first, person(gone))).rejects.toMatchObject({ code: 'forbidden' });
    const { data: activity } = await world.call<{ data: TaskActivityRow[] }>(
      'activity',
      { task_id: first },
      admin(),
    );
    expect(activity[0]).toMatchObject({ type: 'TaskOwnerCleared', actor: 'system:tasks' });
    const moved = await world.call<TaskRow>('move', { task_id: first, column: 'done' }, admin());
    expect(moved).toMatchObject({ column: 'done' });
    // What is said when its card goes names him no more.
    const [boss, lock] = [admin(), { task_id: another, ttl_seconds: 600 }];
    const held = await world.call<{ lock: { fence: number } }>('lock', lock, boss);
    await world.call('delete', { task_id: another, fence: held.lock.fence }, boss);
    const removed = await eventually(async () => {
      const commits = await world.servers.bus.log.read(subjectOf('tasks', world.org, BOARD_ID));
      const events = commits.flatMap((one) => decodeEvents(one, BOARD_EVENTS).events as BoardEvent[]);
      return events.find(({ type, data }) => type === 'CardRemoved' && data.taskId === another);
    });
    expect(removed?.data).toEqual({ taskId: another, userId: null });
    const cleared = (await world.events(first)).filter(({ type }) => type === 'TaskOwnerCleared');
    expect(cleared).toHaveLength(1);
    for (const { projection, schema, tables } of TASKS_PROJECTIONS) {
      const { tables: compared } = await rebuildAndCompare({
        ownerUrl: world.servers.database.ownerUrl,
        schema,
        tables,
        projection,
        source: streamSource(world.servers.bus.log, projection.stream as 'TASKS'),
      });
      for (const one of compared) expect(one).toMatchObject({ missing: 0, extra: 0 });
    }
  });

  test('a task that is heard of only after its owner was deleted is found as well', async () => {
    const gone = randomUUID();
    await world.user(gone, 'UserDeleted');
    const late = await taskOf(gone);
    await eventually(async () => (await get(late, admin())).user_id === null, { withinMs: 60_000 });
  });

  test('a deactivated owner keeps his tasks until he returns', async () => {
    const away = randomUUID();
    const taskId = await taskOf(away);
    await world.user(away, 'UserDeactivated');
    const gone = randomUUID();
    const witness = await taskOf(gone);
    await world.user(gone, 'UserDeleted');
    // Whoever was told of later is dealt with by now.
    await eventually(async () => (await get(witness, admin())).user_id === null, { withinMs: 60_000 });
    expect((await get(taskId, admin())).user_id).toBe(away);
  });
});

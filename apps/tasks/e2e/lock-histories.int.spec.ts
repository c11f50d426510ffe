import type { TaskEvent, TaskLock, TaskLockRow } from '@runyard/contracts';
import { Problem, TASK_EVENTS, subjectOf } from '@runyard/contracts';
import { decodeEvents } from '@runyard/event-log';
import { World } from './world';

jest.setTimeout(240_000);

const CLIENTS = 8;
const OPERATIONS = 40;

/** An operation as its client saw it. `mark`: what its event in the log is known by; null: it was refused. */
interface Seen {
  client: string;
  invoked: number;
  returned: number;
  mark: string | null;
  title: string;
}

/** What an event of the log is known by. */
const markOf = (event: TaskEvent): string | null => {
  if (event.type === 'TaskLockAcquired') return `fence ${event.data.fence}`;
  return event.type === 'TaskEdited' ? event.data.details.title : null;
};

describe('histories of one task’s lock, made by many at once on two boards', () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start(2);
  });
  afterAll(() => world?.stop());

  /** Asks at random for the lock, edits with the last fence it ever had, renews and releases; tells what it saw. */
  async function play(taskId: string, client: string): Promise<Seen[]> {
    const caller = world.caller(client);
    const seen: Seen[] = [];
    let fence = 1;
    for (let n = 0; n < OPERATIONS; n++) {
      const title = `${client} ${n}`;
      const dice = Math.random();
      const invoked = performance.now();
      let mark: string | null = null;
      try {
        if (dice < 0.45) {
          const { lock } = await world.call<{ lock: TaskLockRow }>('lock', { task_id: taskId }, caller);
          fence = lock.fence;
          mark = `fence ${fence}`;
        } else if (dice < 0.75) {
          await world.call('update', { task_id: taskId, fence, title }, caller);
          mark = title;
        } else {
          const method = dice < 0.8 ? 'renew_lock' : 'release_lock';
          await world.call(method, { task_id: taskId, fence }, caller);
        }
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        expect(['task_locked', 'task_lock_lost']).toContain(error.code);
      }
      seen.push({ client, invoked, returned: performance.now(), mark, title });
    }
    return seen;
  }

  test('C43 are linearizable: the log’s order explains every answer and agrees with real time (macanderson/stella#1680)', async () => {
    const taskId = await world.task();
    const clients = Array.from({ length: CLIENTS }, (_, i) => `client-${i}`);
    const seen = (await Promise.all(clients.map((client) => play(taskId, client)))).flat();
    const commits = await world.servers.bus.log.read(subjectOf('tasks', world.org, taskId));
    const places = new Map<string, number>();
    let holding: Pick<TaskLock, 'fence' | 'holder'> | null = null;
    for (const commit of commits)
      for (const event of decodeEvents(commit, TASK_EVENTS).events as TaskEvent[]) {
        const mark = markOf(event);
        if (mark !== null) {
          // No fence twice, no write twice.
          expect(places.has(mark)).toBe(false);
          places.set(mark, commit.sequence);
        }
        if (event.type === 'TaskLockAcquired') {
          // Never two holders: nothing had expired within this test.
          expect(holding).toBeNull();
          holding = event.data;
        } else if (event.type === 'TaskLockReleased') holding = null;
        else if (event.type === 'TaskEdited')
          expect({ fence: event.data.fence, holder: event.actor }).toEqual({
            fence: holding?.fence,
            holder: holding?.holder,
          });
      }
    const told = seen.filter(({ mark }) => mark !== null);
    // Whoever holds it is told of most that it asks; how often it changes hands is a matter of dice.
    expect(told.length).toBeGreaterThan(2);
    // What was answered as done stands in the log, what was refused does not.
    for (const { mark } of told) expect(places.has(mark!)).toBe(true);
    for (const { title, mark } of seen) if (mark !== title) expect(places.has(title)).toBe(false);
    // What had been answered before something else was asked stands before it.
    const first = new Map<string, Seen>();
    for (const one of told) if (!first.has(one.mark!)) first.set(one.mark!, one);
    const list = [...first.values()];
    for (const before of list)
      for (const after of list)
        if (before.returned < after.invoked)
          expect(places.get(before.mark!)).toBeLessThan(places.get(after.mark!)!);
  });
});

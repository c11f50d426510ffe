import { BOARD_EVENTS, BOARD_ID, FIRST_COLUMN, subjectOf } from '@runyard/contracts';
import type { BoardEvent, LogStream, TaskRow } from '@runyard/contracts';
import { decodeEvents, streamSource } from '@runyard/event-log';
import { rebuildAndCompare } from '@runyard/persistence';
import { NO_CARDS, columnOf, evolveBoard } from '../src/domain/board';
import { TASKS_PROJECTIONS } from '../src/projections';
import { World } from './world';

jest.setTimeout(240_000);

const CARDS = 200;
const MOVERS = 50;
const MOVES = 8;
const COLUMNS = ['todo', 'doing', 'done'];

interface Locked {
  lock: { fence: number };
}

describe('a board that many move cards on', () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start(2);
  });
  afterAll(() => world?.stop());

  const end = async (): Promise<string> => `${(await world.servers.bus.log.state('TASKS')).lastSequence}.0`;
  const pageOf = async (column: string, asOf?: string): Promise<string[]> => {
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await world.call<{ data: TaskRow[]; next_cursor: string | null }>('list', {
        column,
        limit: 60,
        ...(cursor ? { cursor } : {}),
        ...(asOf ? { as_of: asOf } : {}),
      });
      ids.push(...page.data.map(({ task_id }) => task_id));
      cursor = page.next_cursor ?? undefined;
    } while (cursor);
    return ids;
  };

  test('50 movers of 200 cards at once end in one order, for the log, the rows and a rebuild', async () => {
    const cards: string[] = [];
    for (let i = 0; i < CARDS; i += 25)
      cards.push(...(await Promise.all(Array.from({ length: 25 }, () => world.task()))));
    const standing = await pageOf(FIRST_COLUMN);
    const before = await end();
    const any = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)]!;
    let last = '0.0';
    let conflicts = 0;
    const mover = async () => {
      for (let n = 0; n < MOVES; n++) {
        const where = Math.random() < 0.5 ? { after: any(cards) } : { index: Math.floor(Math.random() * 30) };
        const move = { task_id: any(cards), column: any(COLUMNS), ...where };
        try {
          const { position } = await world.call<{ position: string }>('move', move);
          if (Number.parseInt(position) > Number.parseInt(last)) last = position;
        } catch (error) {
          // The card to stand behind had left the column: told so, never put elsewhere.
          expect(error).toMatchObject({ code: 'conflict' });
          conflicts++;
        }
      }
    };
    await Promise.all(Array.from({ length: MOVERS }, mover));
    expect(conflicts).toBeLessThan(MOVERS * MOVES);

    await world.call('get', { task_id: cards[0], at_least: last });
    const commits = await world.servers.bus.log.read(subjectOf('tasks', world.org, BOARD_ID));
    const events = commits.flatMap((commit) => decodeEvents(commit, BOARD_EVENTS).events as BoardEvent[]);
    const board = events.reduce(evolveBoard, NO_CARDS);
    const rows = await Promise.all(COLUMNS.map((column) => pageOf(column)));
    expect(rows).toEqual(COLUMNS.map((column) => columnOf(board, column)));
    expect(rows.flat().toSorted()).toEqual(cards.toSorted());
    // Nothing that came later shows in the board as of before, and all that came in that of now.
    expect(await pageOf(FIRST_COLUMN, before)).toEqual(standing);
    const now = await end();
    expect(await Promise.all(COLUMNS.map((column) => pageOf(column, now)))).toEqual(rows);
    // Moves of the same moment share a commit.
    expect(commits.length).toBeLessThan(events.length);

    for (const { projection, schema, tables } of TASKS_PROJECTIONS) {
      const { tables: compared } = await rebuildAndCompare({
        ownerUrl: world.servers.database.ownerUrl,
        schema,
        tables,
        projection,
        source: streamSource(world.servers.bus.log, projection.stream as LogStream),
      });
      for (const one of compared) expect(one).toMatchObject({ missing: 0, extra: 0 });
    }
  });

  test('a task is what it was then: its text, plan, lock and dependencies; also where it was deleted since', async () => {
    const [needed, taskId] = [await world.task({ title: 'Needed' }), await world.task({ title: 'First' })];
    const then = <Row = TaskRow>(asOf: string, method = 'get', caller = world.person()) =>
      world.call<Row>(method, { task_id: taskId, as_of: asOf }, caller);
    const lock = async (id: string) =>
      (await world.call<Locked>('lock', { task_id: id, ttl_seconds: 3_600 })).lock.fence;
    const fence = await lock(taskId);
    const steps = [{ title: 'One', detail: '' }];
    await world.call('set_steps', { task_id: taskId, fence, steps });
    const edit = { title: 'Second', blocked_by: [needed] };
    const { position } = await world.call<TaskRow>('update', { task_id: taskId, fence, ...edit });
    const atPosition = new Date().toISOString();
    await world.call('set_steps', { task_id: taskId, fence, steps: [] });
    await world.call('delete', { task_id: taskId, fence });
    await world.call('delete', { task_id: needed, fence: await lock(needed) });
    const gone = await end();
    const first = `${Number.parseInt(position) - 2}.0`;
    expect(await then(first)).toMatchObject({ title: 'First', blocked_by: [], steps_total: 0 });
    expect(await then(position)).toMatchObject({
      title: 'Second',
      steps_total: 1,
      lock: { fence, expired: false },
      dependencies: [{ task_id: needed, title: 'Needed', status: 'pending' }],
    });
    expect(await then(atPosition)).toMatchObject({ title: 'Second' });
    expect(await then(position, 'steps')).toMatchObject({ data: [{ title: 'One' }] });
    expect(await then(gone).catch(({ code }: { code: string }) => code)).toBe('not_found');
    expect(await then('1.0').catch(({ message }: Error) => message)).toContain('ask for that or later');
    const stranger = { ...world.person(), userId: world.org, actor: 'user:stranger' } as const;
    expect(await then(position, 'get', stranger).catch(({ code }: { code: string }) => code)).toBe(
      'forbidden',
    );
    const { data } = await world.call<{ data: TaskRow[] }>('list', { as_of: position, limit: 2 });
    expect(data.map(({ title }) => title)).toEqual(['Second', 'Needed']);
    const seen = await world.call<{ data: TaskRow[] }>('list', { as_of: position, limit: 2 }, stranger);
    expect(seen.data).toEqual([]);
  });
});

import { BOARD_EVENTS, BOARD_ID, subjectOf } from '@runyard/contracts';
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

describe('a board that many move cards on', () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start(2);
  });
  afterAll(() => world?.stop());

  const pageOf = async (column: string): Promise<string[]> => {
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await world.call<{ data: TaskRow[]; next_cursor: string | null }>('list', {
        column,
        limit: 60,
        ...(cursor ? { cursor } : {}),
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
    const commits = await world.bus.log.read(subjectOf('tasks', world.org, BOARD_ID));
    const events = commits.flatMap((commit) => decodeEvents(commit, BOARD_EVENTS).events as BoardEvent[]);
    const board = events.reduce(evolveBoard, NO_CARDS);
    const rows = await Promise.all(COLUMNS.map(pageOf));
    expect(rows).toEqual(COLUMNS.map((column) => columnOf(board, column)));
    expect(rows.flat().toSorted()).toEqual(cards.toSorted());
    // Moves of the same moment share a commit.
    expect(commits.length).toBeLessThan(events.length);

    for (const { projection, schema, tables } of TASKS_PROJECTIONS) {
      const { tables: compared } = await rebuildAndCompare({
        ownerUrl: world.database.ownerUrl,
        schema,
        tables,
        projection,
        source: streamSource(world.bus.log, projection.stream as LogStream),
      });
      for (const one of compared) expect(one).toMatchObject({ missing: 0, extra: 0 });
    }
  });
});

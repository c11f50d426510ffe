import type { BoardEvent } from '@runyard/contracts';
import { deciderSpec } from '@runyard/testing';
import fc from 'fast-check';
import { NO_CARDS, columnOf, decideBoard, evolveBoard } from './board';
import type { Board, BoardCommand } from './board';

const BOARD = { initial: NO_CARDS, evolve: evolveBoard, decide: decideBoard };
const given = deciderSpec<Board, BoardCommand, BoardEvent>(BOARD);

const placed = (taskId: string, rank: string, column = 'todo') =>
  ({ type: 'CardPlaced', data: { taskId, userId: null, column, rank } }) as const;
const move = (taskId: string, to: object = {}) =>
  ({ type: 'MoveCard', taskId, userId: null, column: 'todo', ...to }) as const;
const after = (board: Board, command: BoardCommand): Board =>
  decideBoard(board, command).reduce(evolveBoard, board);

describe('a board', () => {
  it('puts a new card at its column’s end, once', () => {
    const [card] = given(placed('a', 'c'))
      .when({ type: 'PlaceCard', taskId: 'b', userId: 'u', column: 'todo' })
      .decided();
    expect(card).toMatchObject({ type: 'CardPlaced', data: { taskId: 'b', userId: 'u', column: 'todo' } });
    given(placed('a', 'c'))
      .when({ type: 'PlaceCard', taskId: 'a', userId: null, column: 'done' })
      .thenNothing();
  });

  it('does nothing where a card stands already', () => {
    const three = given(placed('a', 'a'), placed('b', 'b'), placed('c', 'c'));
    three.when(move('b', { after: 'a' })).thenNothing();
    three.when(move('a', { after: null })).thenNothing();
    three.when(move('c')).thenNothing();
    three.when(move('b', { index: 1 })).thenNothing();
  });

  it('refuses to guess where the card to stand behind has gone', () => {
    given(placed('a', 'a'), placed('b', 'b', 'done'))
      .when(move('a', { after: 'b' }))
      .thenRefused('conflict');
    given(placed('a', 'a'))
      .when(move('a', { after: 'a' }))
      .thenRefused('conflict');
  });

  it('forgets a card once', () => {
    given(placed('a', 'a'))
      .when({ type: 'RemoveCard', taskId: 'a', userId: null })
      .then({ type: 'CardRemoved', data: { taskId: 'a', userId: null } });
    given().when({ type: 'RemoveCard', taskId: 'a', userId: null }).thenNothing();
  });

  it('keeps every other card’s order, whatever moves, as a list would', () => {
    const moves = fc.array(
      fc.record({ card: fc.nat(9), column: fc.constantFrom('todo', 'done'), index: fc.nat(12) }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(moves, (list) => {
        let board = NO_CARDS;
        const columns: Record<string, string[]> = { todo: [], done: [] };
        for (let i = 0; i < 10; i++) {
          board = after(board, { type: 'PlaceCard', taskId: `t${i}`, userId: null, column: 'todo' });
          columns.todo!.push(`t${i}`);
        }
        for (const { card, column, index } of list) {
          const taskId = `t${card}`;
          board = after(board, move(taskId, { column, index }));
          for (const name of Object.keys(columns))
            columns[name] = columns[name]!.filter((id) => id !== taskId);
          columns[column]!.splice(index, 0, taskId);
        }
        for (const name of ['todo', 'done']) expect(columnOf(board, name)).toEqual(columns[name]);
      }),
    );
  });

  it('deals a column’s ranks anew when they have grown long', () => {
    let board = ['a', 'b', 'c'].reduce(
      (now, taskId) => after(now, { type: 'PlaceCard', taskId, userId: null, column: 'todo' }),
      NO_CARDS,
    );
    let dealt = 0;
    let order = ['a', 'b', 'c'];
    for (let i = 0; i < 300; i++) {
      const last = order[2]!;
      const events = decideBoard(board, move(last, { after: 'a' }));
      dealt += events.filter(({ type }) => type === 'ColumnRanked').length;
      board = events.reduce(evolveBoard, board);
      order = ['a', last, order[1]!];
      expect(columnOf(board, 'todo')).toEqual(order);
    }
    expect(dealt).toBeGreaterThan(0);
  });
});

import { Problem } from '@runyard/contracts';
import type { BoardEvent, CardPlace, NewEvent } from '@runyard/contracts';
import { LONGEST_RANK, rankBetween, spread } from './rank';

/** Where every card of an org stands. One aggregate, so that movers of the same moment are put in one order by the log. */
export interface Board {
  cards: ReadonlyMap<string, CardPlace>;
}

export const NO_CARDS: Board = { cards: new Map() };

export interface MoveCard {
  type: 'MoveCard';
  taskId: string;
  userId: string | null;
  column: string;
  /** The card that it comes behind; null: the first place. */
  after?: string | null;
  /** From 0; beyond the end means the end. Where neither is given: the end. */
  index?: number;
}

export type BoardCommand =
  | MoveCard
  /** Puts a new card at its column's end; one that stands already stays. */
  | { type: 'PlaceCard'; taskId: string; userId: string | null; column: string }
  /** `userId`: whose task it was when it went; nobody's where that person has gone, so that what stays does not name him. */
  | { type: 'RemoveCard'; taskId: string; userId: string | null };

type Decided<E = BoardEvent> = E extends { type: infer T extends string; data: infer D }
  ? NewEvent<T, D>
  : never;

export function evolveBoard(board: Board, event: BoardEvent | Decided): Board {
  const cards = new Map(board.cards);
  switch (event.type) {
    case 'CardPlaced':
    case 'CardMoved': {
      const { taskId, column, rank } = event.data;
      cards.set(taskId, { column, rank });
      break;
    }
    case 'CardRemoved':
      cards.delete(event.data.taskId);
      break;
    case 'ColumnRanked':
      for (const [taskId, rank] of Object.entries(event.data.ranks)) {
        const card = cards.get(taskId);
        if (card) cards.set(taskId, { ...card, rank });
      }
      break;
    default:
      return event satisfies never;
  }
  return { cards };
}

/** Ids of a column's cards, first to last. */
export function columnOf({ cards }: Board, column: string): string[] {
  return [...cards]
    .filter(([, card]) => card.column === column)
    .sort(([, a], [, b]) => (a.rank < b.rank ? -1 : 1))
    .map(([taskId]) => taskId);
}

export function decideBoard(board: Board, command: BoardCommand): Decided[] {
  switch (command.type) {
    case 'PlaceCard': {
      const { taskId, userId, column } = command;
      if (board.cards.has(taskId)) return [];
      const last = columnOf(board, column).at(-1);
      const rank = rankBetween(rankOf(board, last), null);
      return [{ type: 'CardPlaced', data: { taskId, userId, column, rank } }];
    }
    case 'MoveCard':
      return move(board, command);
    case 'RemoveCard': {
      const { taskId, userId } = command;
      return board.cards.has(taskId) ? [{ type: 'CardRemoved', data: { taskId, userId } }] : [];
    }
    default:
      return command satisfies never;
  }
}

const rankOf = ({ cards }: Board, taskId: string | undefined): string | null =>
  (taskId === undefined ? undefined : cards.get(taskId)?.rank) ?? null;

function move(board: Board, command: MoveCard): Decided[] {
  const { taskId, userId, column } = command;
  const before = board.cards.get(taskId);
  const others = columnOf(board, column).filter((id) => id !== taskId);
  const at = placeAmong(others, command);
  if (before?.column === column && columnOf(board, column).indexOf(taskId) === at) return [];
  const ranked = others.map((id) => rankOf(board, id));
  let rank = rankBetween(ranked[at - 1] ?? null, ranked[at] ?? null);
  const events: Decided[] = [];
  if (rank.length > LONGEST_RANK) {
    const dealt = spread(others.length + 1);
    rank = dealt.splice(at, 1)[0] ?? rank;
    const ranks = Object.fromEntries(others.map((id, i) => [id, dealt[i] ?? '']));
    events.push({ type: 'ColumnRanked', data: { column, ranks } });
  }
  const from = before?.column ?? column;
  return [...events, { type: 'CardMoved', data: { taskId, userId, column, rank, from } }];
}

/** Throws `conflict` where the card to stand behind has left the column meanwhile: any other place would be a surprise. */
function placeAmong(others: readonly string[], { taskId, column, after, index }: MoveCard): number {
  if (after === null) return 0;
  if (after === undefined) return Math.min(index ?? others.length, others.length);
  const found = others.indexOf(after);
  if (found >= 0) return found + 1;
  const detail =
    after === taskId ? 'A card cannot stand behind itself' : 'The card to stand behind is not in that column';
  throw new Problem('conflict', detail, { after, column });
}

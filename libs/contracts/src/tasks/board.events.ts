import type { DomainEvent } from '../envelope';

/** Aggregate id of an org's board in the context `tasks`; no task has this id. */
export const BOARD_ID = 'board';

/** A card's place. Cards of a column stand in the order of `rank`, compared by code units; ranks of a column differ. */
export interface CardPlace {
  column: string;
  rank: string;
}

type Card<Data> = Data & { taskId: string; /** Whose task it is. */ userId: string | null };

/** A new card stands at the end of a column. */
export type CardPlaced = DomainEvent<'CardPlaced', Card<CardPlace>>;
/** A card was moved within its column or to another one. */
export type CardMoved = DomainEvent<'CardMoved', Card<CardPlace & { from: string }>>;
/** The card's task is gone. */
export type CardRemoved = DomainEvent<'CardRemoved', Card<Record<never, never>>>;
/** Nobody moved: ranks of a column had grown long between two neighbours and were dealt anew, in the same order. */
export type ColumnRanked = DomainEvent<'ColumnRanked', { column: string; ranks: Record<string, string> }>;

export type BoardEvent = CardPlaced | CardMoved | CardRemoved | ColumnRanked;

export const BOARD_EVENTS: Readonly<Record<BoardEvent['type'], true>> = {
  CardPlaced: true,
  CardMoved: true,
  CardRemoved: true,
  ColumnRanked: true,
};

import { invalidCursor } from '@runyard/persistence';

/** A place in a list that is ordered by time and id: where the next page begins. */
export interface Place {
  /** Epoch milliseconds. */
  at: number;
  id: string;
}

const WRITTEN = /^(\d{1,15}) ([A-Za-z0-9_-]{1,80})$/;

/** Opaque to clients; base64url, so that it goes into a URL as it is. */
export const cursorOf = ({ at, id }: Place): string => Buffer.from(`${at} ${id}`).toString('base64url');

/** Throws `invalid_cursor` on anything that {@link cursorOf} did not write. */
export function placeOf(cursor: string): Place {
  const match = WRITTEN.exec(Buffer.from(cursor, 'base64url').toString());
  if (!match) throw invalidCursor();
  return { at: Number(match[1]), id: match[2] ?? '' };
}

export const MAX_LIMIT = 200;
const DEFAULT_LIMIT = 50;

/** Rows of a page: 1 to 200. */
export const limitOf = (asked: number | undefined): number =>
  Math.min(MAX_LIMIT, Math.max(1, Math.trunc(asked ?? DEFAULT_LIMIT) || DEFAULT_LIMIT));

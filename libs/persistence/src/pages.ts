import { Problem } from '@runyard/contracts';

/** A page of a list. `next_cursor` null: nothing follows. */
export interface Page<Row> {
  data: Row[];
  next_cursor: string | null;
}

/** Values of the sort key of the last row seen. Opaque to clients. */
const encodeCursor = (values: readonly (string | number)[]): string =>
  btoa(encodeURIComponent(JSON.stringify(values))).replaceAll('=', '');

/**
 * What a value of a sort key is. The database is told so by a cast, which fails on anything else: a cursor that somebody
 * wrote themselves must be refused before it gets there.
 */
export type KeyKind = keyof typeof KINDS;

const KINDS = {
  /** Anything but a zero character, which the database refuses in texts. */
  text: (value: unknown) => typeof value === 'string' && !value.includes('\0'),
  /** RFC 3339, to the microsecond. */
  time: (value: unknown) => typeof value === 'string' && isTime(value),
  uuid: (value: unknown) => typeof value === 'string' && UUID.test(value),
  boolean: (value: unknown) => value === 'true' || value === 'false',
  /** A whole number of 32 bits. */
  integer: (value: unknown) => Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 31,
  /** A place in a stream. */
  position: (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0,
} as const;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const TIME =
  /^(?!0000)\d{4}-\d\d-(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?(Z|[+-](0\d|1[0-4]):[0-5]\d)$/;

function isTime(text: string): boolean {
  const day = TIME.exec(text)?.[1];
  // A day that its month does not have is read as one of the next month, not refused.
  return day !== undefined && new Date(text.slice(0, 10)).getUTCDate() === Number(day);
}

/** The refusal of a cursor, which names the field. */
export const invalidCursor = (): Problem =>
  new Problem('invalid_cursor', 'The cursor is not one that this list gave; start again without it', {
    errors: [{ pointer: '/cursor', detail: 'must be a next_cursor of this list' }],
  });

/** The values of a cursor, each of the kind that is expected at its place; undefined without one. Throws `invalid_cursor`. */
export function decodeCursor(
  cursor: string | undefined,
  kinds: readonly KeyKind[],
): (string | number)[] | undefined {
  if (cursor === undefined) return undefined;
  try {
    const values: unknown = JSON.parse(decodeURIComponent(atob(cursor)));
    if (isKey(values, kinds)) return values;
  } catch {
    // Falls through: whatever it was, it was none of ours.
  }
  throw invalidCursor();
}

const isKey = (values: unknown, kinds: readonly KeyKind[]): values is (string | number)[] =>
  Array.isArray(values) &&
  values.length === kinds.length &&
  kinds.every((kind, index) => KINDS[kind](values[index]));

/** Cuts a list that was read one longer than asked for. */
export function pageOf<Row>(
  rows: readonly Row[],
  limit: number,
  keyOf: (row: Row) => (string | number)[],
): Page<Row> {
  const data = rows.slice(0, limit);
  const last = data[data.length - 1];
  return { data, next_cursor: rows.length > limit && last ? encodeCursor(keyOf(last)) : null };
}

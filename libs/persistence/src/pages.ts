import { Problem } from '@runyard/contracts';

/** A page of a list. `next_cursor` null: nothing follows. */
export interface Page<Row> {
  data: Row[];
  next_cursor: string | null;
}

/** Values of the sort key of the last row seen. Opaque to clients. */
const encodeCursor = (values: readonly (string | number)[]): string =>
  btoa(encodeURIComponent(JSON.stringify(values))).replaceAll('=', '');

/** The inverse; `length` values are expected. Throws `invalid_cursor`. */
export function decodeCursor(cursor: string | undefined, length: number): (string | number)[] | undefined {
  if (cursor === undefined) return undefined;
  try {
    const values: unknown = JSON.parse(decodeURIComponent(atob(cursor)));
    if (
      Array.isArray(values) &&
      values.length === length &&
      values.every((v) => typeof v === 'string' || typeof v === 'number')
    )
      return values;
  } catch {
    // Falls through: whatever it was, it was none of ours.
  }
  throw new Problem('invalid_cursor', 'The cursor is not one that this list gave; start again without it');
}

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

import { Problem } from '@runyard/contracts';

/** A page of a list. `next_cursor` null: nothing follows. */
export interface Page<Row> {
  data: Row[];
  next_cursor: string | null;
}

type Place = readonly (string | number | boolean)[];

const encode = (values: Place): string =>
  btoa(encodeURIComponent(JSON.stringify(values))).replaceAll('=', '');

/** Values of the sort key of the last row seen; `length` values are expected. Throws `invalid_cursor`. */
export function placeOf(cursor: string | undefined, length: number): Place | undefined {
  if (cursor === undefined) return undefined;
  try {
    const values: unknown = JSON.parse(decodeURIComponent(atob(cursor)));
    if (Array.isArray(values) && values.length === length) return values.map(String);
  } catch {
    // Falls through: whatever it was, it was none of ours.
  }
  throw new Problem('invalid_cursor', 'The cursor is not one that this list gave; start again without it');
}

/** Cuts a list that was read one longer than asked for. */
export function pageOf<Row>(rows: readonly Row[], limit: number, keyOf: (row: Row) => Place): Page<Row> {
  const data = rows.slice(0, limit);
  const last = data[data.length - 1];
  return { data, next_cursor: rows.length > limit && last ? encode(keyOf(last)) : null };
}

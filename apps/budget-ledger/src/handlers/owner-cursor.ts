import { invalidCursor } from '@runyard/persistence';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The owner with whom the page before ended. Throws `invalid_cursor` for what no list has answered. */
export function ownerCursor(cursor: string | undefined): string | null {
  if (cursor === undefined || UUID.test(cursor)) return cursor ?? null;
  throw invalidCursor();
}

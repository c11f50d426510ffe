import { Problem } from '@runyard/contracts';

/**
 * A place in a stream of the log: after event `index` of commit `sequence`. The incarnation changes when the stream is
 * created anew (P9.3): a cursor of an earlier one means nothing any more.
 */
export interface Cursor {
  incarnation: string;
  sequence: number;
  index: number;
}

const CURSOR = /^([A-Za-z0-9_-]{1,64})\.([1-9][0-9]{0,15}|0)\.([0-9]{1,6})$/;

/** The text of a cursor; opaque to clients. */
export function formatCursor(cursor: Cursor): string {
  return `${incarnationToken(cursor.incarnation)}.${cursor.sequence}.${cursor.index}`;
}

/** Throws Problem `invalid_cursor` for anything that {@link formatCursor} did not make. */
export function parseCursor(text: string): Cursor {
  const [, incarnation, sequence, index] = CURSOR.exec(text) ?? [];
  if (incarnation === undefined || !Number.isSafeInteger(Number(sequence))) {
    throw new Problem(
      'invalid_cursor',
      'The position (Last-Event-ID or after) is not one that this API gave out',
    );
  }
  return { incarnation, sequence: Number(sequence), index: Number(index) };
}

/** Incarnations as they may stand in a cursor: a creation time has characters that are not for ids. */
export function incarnationToken(incarnation: string): string {
  return incarnation.replaceAll(/[^A-Za-z0-9_-]/g, '').slice(0, 64) || '0';
}

/** Refuses a cursor that the stream, as it is now, cannot continue from: `cursor_expired`, with where to look instead. */
export function checkCursor(
  cursor: Cursor,
  stream: { lastSequence: number; incarnation: string },
  snapshot: string,
): void {
  if (cursor.incarnation !== incarnationToken(stream.incarnation)) {
    throw new Problem('cursor_expired', 'The position belongs to an event log that was replaced since', {
      snapshot,
    });
  }
  if (cursor.sequence > stream.lastSequence) {
    throw new Problem('cursor_expired', 'The position lies beyond the end of the event log', { snapshot });
  }
}

/** True for what comes after `cursor`; everything does without one. */
export function isAfter(position: { sequence: number; index: number }, cursor: Cursor | undefined): boolean {
  if (!cursor) return true;
  return (
    position.sequence > cursor.sequence ||
    (position.sequence === cursor.sequence && position.index > cursor.index)
  );
}

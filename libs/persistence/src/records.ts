import type { Json } from '@runyard/contracts';
import { cleanJson } from './clean-text';

/** What Postgres refuses in JSON (NUL, half surrogate pairs) as JSON.stringify writes it, and the mark that cleaning uses. */
const SUSPECT = /\\u0000|\\ud[89a-f][0-9a-f]{2}|\uFDD0/;

/**
 * A statement's records as one JSON parameter. What Postgres refuses in text is escaped reversibly (case C67); all records
 * are searched for it at once, because nearly every batch has none.
 */
export function records(rows: readonly object[]): string {
  const written = JSON.stringify(rows);
  return SUSPECT.test(written) ? JSON.stringify(cleanJson(JSON.parse(written) as Json)) : written;
}

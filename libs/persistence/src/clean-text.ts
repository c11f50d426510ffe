import type { Json } from '@runyard/contracts';

/**
 * Postgres refuses NUL in text and jsonb, and half surrogate pairs in jsonb and UTF-8 (case C67). Each is written as a
 * replacement character, which readers see, a marker that no text for interchange holds (the noncharacter U+FDD0), and
 * four hex digits. A marker that is already there is written the same way, so that {@link restoreText} gives back
 * exactly what came. All other text stays as it is, also the six characters `\u0000`.
 */
const MARK = '\uFFFD\uFDD0';
const REFUSED = /[\0\uFDD0]|\p{Surrogate}/u;
const EVERY_REFUSED = /[\0\uFDD0]|\p{Surrogate}/gu;
const WRITTEN = /\uFFFD\uFDD0(0000|fdd0|d[89a-f][0-9a-f]{2})/g;

/** Text that Postgres takes. Unchanged where nothing is refused, which costs one scan. */
export function cleanText(text: string): string {
  if (!REFUSED.test(text)) return text;
  return text.replace(EVERY_REFUSED, (refused) => MARK + refused.charCodeAt(0).toString(16).padStart(4, '0'));
}

/** The inverse of {@link cleanText}. */
export function restoreText(text: string): string {
  return text.includes(MARK)
    ? text.replace(WRITTEN, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : text;
}

type TextChange = (text: string) => string;

function changedArray(items: readonly Json[], change: TextChange): Json[] {
  const changed = items.map((item) => changedJson(item, change));
  return changed.some((item, index) => item !== items[index]) ? changed : (items as Json[]);
}

function changedJson(value: Json, change: TextChange): Json {
  if (typeof value === 'string') return change(value);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return changedArray(value, change);
  let different = false;
  const entries = Object.entries(value).map(([key, inner]): [string, Json] => {
    const entry: [string, Json] = [change(key), changedJson(inner, change)];
    different ||= entry[0] !== key || entry[1] !== inner;
    return entry;
  });
  // fromEntries defines properties; assigning would call the setter of a key named "__proto__".
  return different ? Object.fromEntries(entries) : value;
}

/** {@link cleanText} for every text and key of a JSON value; the same object where nothing is refused. Clean before stringifying. */
export const cleanJson = (value: Json): Json => changedJson(value, cleanText);

/** The inverse of {@link cleanJson}. */
export const restoreJson = (value: Json): Json => changedJson(value, restoreText);

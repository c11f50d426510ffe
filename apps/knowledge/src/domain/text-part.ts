import type { ReadAnswer } from '@runyard/contracts';

/** A part of a text that parts no surrogate pair. */
export function partOf(
  document: Pick<ReadAnswer, 'document_id' | 'title' | 'source'>,
  text: string,
  offset: number,
  length: number,
): ReadAnswer {
  const { document_id, title, source } = document;
  const start = Math.min(offset, text.length);
  const end = Math.min(start + length, text.length);
  const whole = isPairAt(text, end) ? end + 1 : end;
  const from = isPairAt(text, start) ? start + 1 : start;
  return {
    document_id,
    title,
    source,
    offset: from,
    text: text.slice(from, whole),
    characters: text.length,
    next_offset: whole < text.length ? whole : null,
  };
}

/** Whether a cut before unit `at` would part a pair. */
const isPairAt = (text: string, at: number): boolean =>
  at > 0 && at < text.length && /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(text.slice(at - 1, at + 1));

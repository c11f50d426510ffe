import { UserError } from './user.errors';

/** Longest text; the counting of a longer one would hold up every run of this process. */
export const MAX_COUNTED = 200_000;

const words = new Intl.Segmenter('en', { granularity: 'word' });
const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });
const characters = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Counts of a text as JSON text. Throws UserError for one that is too long. A character is what a person sees as one, a code point what most limits count. */
export function textStatistics(text: string): string {
  if (text.length > MAX_COUNTED) throw new UserError(`text: longer than ${MAX_COUNTED} characters`);
  return JSON.stringify({
    characters: count(characters.segment(text), () => true),
    code_points: count(text, () => true),
    words: count(words.segment(text), (segment) => segment.isWordLike === true),
    sentences: count(sentences.segment(text), (segment) => segment.segment.trim() !== ''),
    lines: text === '' ? 0 : text.split(/\r\n|\r|\n/).length,
    bytes: Buffer.byteLength(text),
  });
}

function count<T>(items: Iterable<T>, counts: (item: T) => boolean): number {
  let found = 0;
  for (const item of items) if (counts(item)) found += 1;
  return found;
}

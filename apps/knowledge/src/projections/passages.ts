/** A part of a document as it is searched and shown. */
export interface Passage {
  number: number;
  /** Offset of its first UTF-16 unit. */
  start: number;
  text: string;
}

/** Long enough to answer from, short enough that five of them are no burden to a model. */
const LONGEST = 1_800;
/** A break is looked for from here on. */
const SHORTEST = 900;

/** Where a text may be parted, best first: paragraphs, lines, sentences, words. */
const BREAKS = [/\n\s*\n/g, /\n/g, /[.!?。！？]\s+|[。！？]/g, /\s+/g];

/** A document in passages: together they are the whole text, and none parts a surrogate pair. */
export function passagesOf(text: string): Passage[] {
  const passages: Passage[] = [];
  for (let start = 0; start < text.length;) {
    const end = endOf(text, start);
    passages.push({ number: passages.length, start, text: text.slice(start, end) });
    start = end;
  }
  return passages;
}

function endOf(text: string, start: number): number {
  if (text.length - start <= LONGEST) return text.length;
  const window = text.slice(start + SHORTEST, start + LONGEST);
  for (const pattern of BREAKS) {
    let last: RegExpMatchArray | undefined;
    for (const match of window.matchAll(pattern)) last = match;
    if (last) return start + SHORTEST + (last.index ?? 0) + last[0].length;
  }
  const end = start + LONGEST;
  const unit = text.charCodeAt(end - 1);
  return unit >= 0xd800 && unit <= 0xdbff ? end - 1 : end;
}

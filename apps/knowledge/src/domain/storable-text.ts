/** NUL and halves of surrogate pairs: Postgres cannot store them. */
const UNSTORABLE = /\0|\p{Surrogate}/gu;

/** A text with a replacement character in the place of each character that cannot be stored, and how many there were. */
export function storableText(text: string): { text: string; replaced: number } {
  let replaced = 0;
  const storable = text.replace(UNSTORABLE, () => {
    replaced += 1;
    return '\uFFFD';
  });
  return { text: storable, replaced };
}

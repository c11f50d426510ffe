const TEXT_OID = 25;
const HEADER_BYTES = 20;

/**
 * A text[] in Postgres' binary form (one dimension, no NULLs), which node-postgres sends as it is. Its own way escapes an
 * array character by character here, and the server undoes that: for bodies of commits that costs more than the insert.
 */
export function binaryTextArray(texts: readonly Uint8Array[]): Buffer {
  const size = texts.reduce((bytes, text) => bytes + 4 + text.length, HEADER_BYTES);
  const array = Buffer.allocUnsafe(size);
  for (const [place, word] of [1, 0, TEXT_OID, texts.length, 1].entries())
    array.writeInt32BE(word, 4 * place);
  let offset = HEADER_BYTES;
  for (const text of texts) {
    array.writeInt32BE(text.length, offset);
    array.set(text, offset + 4);
    offset += 4 + text.length;
  }
  return array;
}

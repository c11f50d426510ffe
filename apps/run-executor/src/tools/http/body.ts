import { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { HttpAnswer } from './exchange';

export interface ReadBody {
  bytes: Buffer;
  /** There was more than the limit; the rest was not read. */
  cut: boolean;
}

/** Reads at most `limit` bytes after decompression (a small body may unpack to gigabytes) and ends the connection. Rejects where it breaks. */
export async function readBody({ body, headers }: HttpAnswer, limit: number): Promise<ReadBody> {
  const plain = decompressed(body, headers['content-encoding']);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of plain as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > limit) return { bytes: Buffer.concat(chunks).subarray(0, limit), cut: true };
    }
    return { bytes: Buffer.concat(chunks), cut: false };
  } finally {
    body.on('error', () => {}).destroy();
  }
}

function decompressed(body: Readable, encoding: string | string[] | undefined): Readable {
  const decoder = decoderOf(String(encoding ?? '').toLowerCase());
  if (!decoder) return body;
  body.once('error', (error) => decoder.destroy(error));
  return body.pipe(decoder);
}

function decoderOf(encoding: string) {
  if (encoding === 'gzip' || encoding === 'x-gzip') return createGunzip();
  if (encoding === 'deflate') return createInflate();
  return encoding === 'br' ? createBrotliDecompress() : undefined;
}

const TEXTUAL =
  /^(text\/|application\/(json|xml|x-www-form-urlencoded|javascript|x-ndjson|yaml)|[^;]*\+(json|xml))/i;

/** A body as text; what is not text is a visible placeholder with kind and size. */
export function textOf({ bytes }: ReadBody, contentType: string | string[] | undefined): string {
  const type = String(contentType ?? '');
  if (bytes.length === 0) return '';
  if (type !== '' && !TEXTUAL.test(type))
    return `[binary content, ${type.split(';')[0]}, ${bytes.length} bytes]`;
  return decode(bytes, /charset="?([\w-]+)/i.exec(type)?.[1] ?? 'utf-8');
}

function decode(bytes: Buffer, charset: string): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return bytes.toString('utf8');
  }
}

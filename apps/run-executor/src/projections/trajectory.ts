import type { StoredText } from '@runyard/contracts';
import type { RunImage } from './run-image';

/**
 * jsonb holds 256 MB at most, and a terminal statement that cannot be written would stop the projection for everybody:
 * beyond this many bytes a run's trajectory keeps the beginnings of texts only. The log and the steps keep all of it.
 */
export const MAX_ENTRY_BYTES = 96 * 1024 * 1024;
const SHORT = 200;

/** Every text of the trajectory is a JSON string, or where it is stored apart its beginning and digest; never parsed (P8.5). */
export type EntryText = string | { preview: string; digest?: string; bytes: number };

/** The next free place of the trajectory. */
export function nextPlace(image: RunImage, count = 1): number {
  const place = image.progress.next_place;
  image.progress.next_place += count;
  return place;
}

export function addEntry(image: RunImage, place: number, entry: Record<string, unknown>): void {
  image.entries.push({ place, entry });
}

export function entryText(image: RunImage, stored: StoredText): EntryText {
  if ('digest' in stored) {
    image.progress.entry_bytes += stored.preview.length;
    return { preview: stored.preview, digest: stored.digest, bytes: stored.bytes };
  }
  const { text } = stored;
  if (text.length > SHORT && image.progress.entry_bytes + text.length > MAX_ENTRY_BYTES) {
    image.progress.entry_bytes += SHORT;
    return { preview: text.slice(0, SHORT), bytes: Buffer.byteLength(text) };
  }
  image.progress.entry_bytes += text.length;
  return text;
}

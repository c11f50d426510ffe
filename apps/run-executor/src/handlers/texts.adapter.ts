import { setTimeout as wait } from 'node:timers/promises';
import type { StoredText } from '@runyard/contracts';
import { isPassing } from '@runyard/persistence';
import { byteLength } from '../domain/transcript';
import { shorten } from '../tools/text';

/** What is larger is stored once as a blob and named by digest; also what the model is shown of a tool's result. */
export const INLINE_TEXT_BYTES = 16 * 1024;

/** All inline texts of one event together; leaves room for several events in a commit. */
const INLINE_EVENT_BYTES = 96 * 1024;

/** An inline text may be written with so many bytes per byte: a NUL takes six in JSON, and commits have a size. */
const ESCAPED = 2;

/** A database that is away is asked again after this long. */
const STORE_RETRY_MS = 250;

/** Characters of blob texts kept at hand, so that a run that goes on need not read back what it has just written. */
const RECENT_CHARACTERS = 16 * 1024 * 1024;

export interface BlobStore {
  put(org: string, text: string): Promise<string>;
  get(org: string, digest: string): Promise<string | undefined>;
}

/** Large texts of events: stored by digest before the event that names them (P9.4). */
export class Texts {
  private readonly recent = new Map<string, string>();
  private recentCharacters = 0;

  constructor(private readonly blobs: BlobStore) {}

  /** Stores one text. `shares`: how many texts of the same event share the room for inline text. */
  async store(org: string, text: string, shares = 1): Promise<StoredText> {
    const limit = Math.min(INLINE_TEXT_BYTES, Math.floor(INLINE_EVENT_BYTES / shares));
    const bytes = byteLength(text);
    if (bytes <= limit && fits(text, limit)) return { text };
    const digest = await this.blobs.put(org, text);
    this.remember(digest, text);
    return { preview: previewOf(text, limit), digest, bytes };
  }

  /** Stores a text of a fact: what was done or said is not lost because the database is away for a while (P1.4). */
  async keep(org: string, text: string, shares = 1): Promise<StoredText> {
    for (;;) {
      try {
        return await this.store(org, text, shares);
      } catch (error) {
        if (!isPassing(error)) throw error;
        await wait(STORE_RETRY_MS);
      }
    }
  }

  /** Whole texts by digest, ready for a fold. A blob that is gone (erased) is left out; its preview stands for it. */
  async load(org: string, stored: Iterable<StoredText>): Promise<Map<string, string>> {
    const texts = new Map<string, string>();
    for (const one of stored) {
      if ('text' in one || texts.has(one.digest)) continue;
      const text = this.recent.get(one.digest) ?? (await this.blobs.get(org, one.digest));
      if (text !== undefined) texts.set(one.digest, text);
    }
    return texts;
  }

  /** A text that was stored or loaded lately. */
  atHand(digest: string): string | undefined {
    return this.recent.get(digest);
  }

  private remember(digest: string, text: string): void {
    if (this.recent.has(digest)) return;
    this.recent.set(digest, text);
    this.recentCharacters += text.length;
    for (const [oldest, dropped] of this.recent) {
      if (this.recentCharacters <= RECENT_CHARACTERS || oldest === digest) break;
      this.recent.delete(oldest);
      this.recentCharacters -= dropped.length;
    }
  }
}

/** Whether a text stays within its room as JSON writes it. */
const fits = (text: string, limit: number): boolean =>
  text.length * 6 <= limit * ESCAPED || byteLength(JSON.stringify(text)) <= limit * ESCAPED;

function previewOf(text: string, limit: number): string {
  const preview = shorten(text, limit).text;
  return fits(preview, limit) ? preview : shorten(text, Math.floor((limit * ESCAPED) / 6)).text;
}

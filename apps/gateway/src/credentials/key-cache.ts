import type { Credential } from './credential';

interface Entry {
  credential: Credential;
  until: number;
}

/** No question to the registry is under way for longer. */
const LONGEST_QUESTION_MS = 30_000;

export interface KeyCacheOptions {
  /** How long an answer of the registry is believed without a sign of change, milliseconds. */
  ttlMs: number;
  /** After a change in an org nothing of it is kept for this long: the registry's rows may lag behind its log. */
  settleMs: number;
  maxEntries: number;
}

/**
 * Keys that were found to hold, by the hash of the key. Whatever changes people or keys of an org empties the org's part;
 * the time to live bounds what a lost sign of change can do.
 */
export class KeyCache {
  private readonly entries = new Map<string, Entry>();
  private readonly changedAt = new Map<string, number>();

  constructor(private readonly options: KeyCacheOptions) {}

  get(hash: string, now: number): Credential | undefined {
    const entry = this.entries.get(hash);
    if (!entry) return undefined;
    if (entry.until > now) return entry.credential;
    this.entries.delete(hash);
    return undefined;
  }

  /** Keeps an answer that was asked for at `askedAt`; not if the org changed since then, or shortly before. */
  put(hash: string, credential: Credential, askedAt: number, now: number): void {
    const changedAt = this.changedAt.get(credential.caller.org);
    if (changedAt !== undefined && changedAt + this.options.settleMs > askedAt) return;
    const until = Math.min(now + this.options.ttlMs, credential.expiresAt ?? Infinity);
    this.entries.delete(hash);
    this.entries.set(hash, { credential, until });
    if (this.entries.size <= this.options.maxEntries) return;
    const oldest = this.entries.keys().next().value;
    if (oldest !== undefined) this.entries.delete(oldest);
  }

  /** Forgets an org's keys. */
  invalidate(org: string, now: number): void {
    for (const [hash, entry] of this.entries)
      if (entry.credential.caller.org === org) this.entries.delete(hash);
    for (const [other, at] of this.changedAt)
      if (at + this.options.settleMs + LONGEST_QUESTION_MS <= now) this.changedAt.delete(other);
    this.changedAt.set(org, now);
  }
}

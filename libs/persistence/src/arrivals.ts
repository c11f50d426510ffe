import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ProjectedCommit } from './types';

/** Bounds what lies in memory: a commit may have 256 KiB, and thousands may be under way. */
const MOST_BYTES = 8 * 1024 * 1024;

/** Commits that have arrived and wait to be applied. Reading goes on while a batch is applied. */
export class Arrivals {
  private waiting: ProjectedCommit[] = [];
  private bytes = 0;
  /** When the first of those that wait arrived, monotonic milliseconds. */
  private since = 0;
  /** So many are not waited for any longer. */
  private enough = 1;
  private hurried = false;
  private ended = false;
  private failure: { error: unknown } | undefined;
  private wake: () => void = () => undefined;
  private resume: () => void = () => undefined;
  private readonly reading: Promise<void>;

  constructor(
    batches: AsyncIterable<readonly ProjectedCommit[]>,
    private readonly most: number,
  ) {
    this.reading = this.read(batches);
  }

  /**
   * The next 1 to `most` commits, in order. Waits for one, and for others to come along until the first has waited for
   * `gatherMs`. None: nothing came within
   * `patienceMs`. Undefined: the source has ended. Throws what the source threw.
   */
  async take(
    most: number,
    gatherMs = 0,
    patienceMs = Number.POSITIVE_INFINITY,
  ): Promise<ProjectedCommit[] | undefined> {
    const until = performance.now() + patienceMs;
    while (this.waiting.length === 0) {
      if (this.failure) throw this.failure.error;
      if (this.ended) return undefined;
      if (performance.now() >= until) return [];
      await this.wokenWithin(until);
      // The first commit of many has arrived: let those that the source already holds come along.
      await nextTurn();
    }
    if (gatherMs > 0) await this.gather(most, gatherMs);
    this.hurried = false;
    let count = 0;
    let bytes = 0;
    while (count < Math.min(most, this.waiting.length) && (count === 0 || bytes < MOST_BYTES))
      bytes += this.waiting[count++]?.body.length ?? 0;
    this.bytes -= bytes;
    const batch = count === this.waiting.length ? this.waiting : this.waiting.slice(0, count);
    this.waiting = count === this.waiting.length ? [] : this.waiting.slice(count);
    this.resume();
    return batch;
  }

  /** Somebody waits for what has arrived: no more gathering this time. */
  hurry(): void {
    this.hurried = true;
    this.wake();
  }

  /** Waits until the source has ended; its signal must have been aborted. */
  async settled(): Promise<void> {
    this.ended = true;
    this.resume();
    this.wake();
    await this.reading;
  }

  private async gather(most: number, gatherMs: number): Promise<void> {
    const left = this.since + gatherMs - performance.now();
    if (left <= 0 || this.isEnough(most)) return;
    const timer = setTimeout(() => this.wake(), left);
    await this.woken(most);
    clearTimeout(timer);
  }

  private isEnough(most: number): boolean {
    return this.hurried || this.ended || this.waiting.length >= most || this.bytes >= MOST_BYTES;
  }

  private async wokenWithin(until: number): Promise<void> {
    const left = until - performance.now();
    const timer = Number.isFinite(left) ? setTimeout(() => this.wake(), left) : undefined;
    await this.woken(1);
    clearTimeout(timer);
  }

  private woken(enough: number): Promise<void> {
    this.enough = enough;
    return new Promise((resolve) => (this.wake = resolve));
  }

  private async read(batches: AsyncIterable<readonly ProjectedCommit[]>): Promise<void> {
    try {
      for await (const batch of batches) {
        if (this.ended) return;
        this.put(batch);
        while (!this.ended && (this.waiting.length >= this.most || this.bytes >= MOST_BYTES))
          await new Promise<void>((resolve) => (this.resume = resolve));
      }
    } catch (error) {
      this.failure = { error };
    } finally {
      this.ended = true;
      this.wake();
    }
  }

  private put(batch: readonly ProjectedCommit[]): void {
    if (this.waiting.length === 0) this.since = performance.now();
    for (const commit of batch) {
      this.waiting.push(commit);
      this.bytes += commit.body.length;
    }
    if (this.isEnough(this.enough)) this.wake();
  }
}

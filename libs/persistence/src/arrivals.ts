import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ProjectedCommit } from './types';

/** Bounds what lies in memory: a commit may have 256 KiB, and thousands may be under way. */
const MOST_BYTES = 8 * 1024 * 1024;

/** Commits that have arrived and wait to be applied. Reading goes on while a batch is applied; nothing is waited for. */
export class Arrivals {
  private waiting: ProjectedCommit[] = [];
  private bytes = 0;
  private ended = false;
  private failure: { error: unknown } | undefined;
  private wake: () => void = () => undefined;
  private resume: () => void = () => undefined;
  private readonly reading: Promise<void>;

  constructor(
    commits: AsyncIterable<ProjectedCommit>,
    private readonly most: number,
  ) {
    this.reading = this.read(commits);
  }

  /** The next 1 to `most` commits, in order; waits for one only. Undefined: the source has ended. Throws what the source threw. */
  async take(most: number): Promise<ProjectedCommit[] | undefined> {
    while (this.waiting.length === 0) {
      if (this.failure) throw this.failure.error;
      if (this.ended) return undefined;
      await new Promise<void>((resolve) => (this.wake = resolve));
      // The first commit of many has arrived: let those that the source already holds come along.
      await nextTurn();
    }
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

  /** Waits until the source has ended; its signal must have been aborted. */
  async settled(): Promise<void> {
    this.ended = true;
    this.resume();
    await this.reading;
  }

  private async read(commits: AsyncIterable<ProjectedCommit>): Promise<void> {
    try {
      for await (const commit of commits) {
        if (this.ended) return;
        this.waiting.push(commit);
        this.bytes += commit.body.length;
        this.wake();
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
}

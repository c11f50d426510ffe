/**
 * How commits come to a reader that does not need each at once: what was stored within `gatherMs` is fetched together.
 * A delivery costs server and reader far more than a commit more in it.
 */
export interface Pace {
  readonly gatherMs: number;
  /** Calls back when somebody waits for what comes next, which is then fetched without delay. Returns an unsubscriber. */
  onHurry?(hurry: () => void): () => void;
}

/** When a reader fetches what has gathered: not sooner than `gatherMs` after the last time, unless somebody waits for it. */
export class Pacing {
  /** Nothing came with the last fetch, so that the next commit is waited for instead of asked for again and again. */
  quiet = true;
  /** The last fetch brought as much as it could: more lies there. */
  full = false;
  private fetchedAt = -Infinity;
  private hurried = false;
  private stopped = false;
  private wake: () => void = () => undefined;
  private readonly release: () => void;

  constructor(private readonly pace: Pace) {
    this.release =
      pace.onHurry?.(() => {
        this.hurried = true;
        this.wake();
      }) ?? (() => undefined);
  }

  /** Waits until it is time for the next fetch. */
  async gather(): Promise<void> {
    const now = performance.now();
    const left = (this.quiet ? now : this.fetchedAt) + this.pace.gatherMs - now;
    if (left > 0 && !this.hurried && !this.stopped) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
        timer = setTimeout(resolve, left);
      });
      clearTimeout(timer);
    }
    this.hurried = false;
  }

  /** Tells how many commits a fetch has brought. */
  fetched(count: number, most: number): void {
    this.fetchedAt = performance.now();
    this.quiet = count === 0;
    this.full = count >= most;
  }

  /** No more waiting: the reading has ended. */
  stop(): void {
    this.stopped = true;
    this.release();
    this.wake();
  }
}

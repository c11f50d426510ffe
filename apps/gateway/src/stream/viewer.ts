import { Readable } from 'node:stream';
import type { Cursor } from './cursor';
import { PING, encodeControl, encodePlace, encodeRetry } from './frame';
import type { ShownCommit } from './streamed-commit';
import type { RunTail } from './run-tail.process';

export interface ViewerLimits {
  /** Live events that may wait for a slow client, in UTF-16 units; beyond it the client is cut off and resumes by cursor. */
  maxWaiting: number;
  pingMs: number;
  retryMs: number;
}

export interface ViewerSource {
  /** What control frames name. */
  about: Record<string, unknown>;
  subject: string;
  /** Cursor that the client stands at before its first event, where a reconnect without one would leave a gap. */
  startsAt?: string;
  /** Where the client stands; undefined: before the first event. */
  after: Cursor | undefined;
  /** The run's commits from the cursor on, read before the answer's headers. */
  history: readonly ShownCommit[];
  /** Reads the commits of the subject after a sequence; called once, after the tail was joined. */
  readAfter(sequence: number): Promise<readonly ShownCommit[]>;
}

/** A commit to be sent, and what it counts for against the bound: its size when live, nothing when it is history. */
interface Waiting {
  commit: ShownCommit;
  counts: number;
}

/**
 * One client's view of a run as the bytes of an SSE answer: history, then live, without gap or double.
 * Invariants:
 * V1 Nothing is subscribed before the first read, so an answer that is never sent holds nothing (case C49).
 * V2 Whatever ends the answer (client gone, run ended, cut off, server stopping) passes `_destroy`, which unsubscribes.
 * V3 A commit is queued only if its sequence is above the last one queued.
 * V4 Pull only: bytes are pushed while the socket takes them; what waits beyond the bound cuts the client off. The
 *    producer is never slowed, so no viewer can touch a run.
 */
export class Viewer extends Readable {
  private readonly waiting: Waiting[];
  private readonly early: Waiting[] = [];
  private lastQueued: number;
  private liveSize = 0;
  private wanted = false;
  private state: 'new' | 'joining' | 'live' | 'over' = 'new';
  private caughtUp = false;
  private unsubscribe: (() => void) | undefined;
  private ping: NodeJS.Timeout | undefined;

  constructor(
    private readonly source: ViewerSource,
    private readonly tail: Pick<RunTail, 'subscribe'>,
    private readonly limits: ViewerLimits,
  ) {
    super({ highWaterMark: 16 * 1024 });
    this.waiting = source.history.map((commit) => ({ commit, counts: 0 }));
    this.lastQueued = source.history.at(-1)?.sequence ?? source.after?.sequence ?? 0;
  }

  override _read(): void {
    this.wanted = true;
    if (this.state === 'new') this.begin();
    this.pump();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.leave();
    done(error);
  }

  /** Ends the answer without an `end` frame: the client comes back with its position. */
  dismiss(): void {
    if (this.state === 'over') return;
    this.leave();
    if (this.waiting.length === 0) this.push(null);
    else this.destroy();
  }

  private begin(): void {
    this.state = 'joining';
    this.push(encodeRetry(this.limits.retryMs));
    if (this.source.startsAt !== undefined) this.push(encodePlace(this.source.startsAt));
    // An ended run needs no tail: all that will ever be shown is here.
    if (this.source.history.some((commit) => commit.ends)) return;
    this.ping = setInterval(() => this.beat(), this.limits.pingMs);
    this.ping.unref();
    this.handOver().catch((error: unknown) =>
      this.destroy(error instanceof Error ? error : new Error(String(error))),
    );
  }

  /** Joins the tail first, then reads what history has in between, then takes over what the tail delivered meanwhile. */
  private async handOver(): Promise<void> {
    const unsubscribe = await this.tail.subscribe(this.source.subject, {
      onCommit: (commit) => this.onLive(commit),
      onLost: () => this.dismiss(),
    });
    if (this.destroyed || this.isOver()) return unsubscribe();
    this.unsubscribe = unsubscribe;
    for (const commit of await this.source.readAfter(this.lastQueued)) this.enqueue({ commit, counts: 0 });
    if (this.isOver()) return;
    this.state = 'live';
    for (const early of this.early.splice(0)) this.enqueue(early);
    this.pump();
  }

  private onLive(commit: ShownCommit): void {
    const entry = { commit, counts: commit.size };
    this.liveSize += entry.counts;
    if (this.liveSize > this.limits.maxWaiting) return void this.destroy();
    if (this.state === 'joining') this.early.push(entry);
    else this.enqueue(entry);
    this.pump();
  }

  private enqueue(entry: Waiting): void {
    if (entry.commit.sequence <= this.lastQueued) {
      this.liveSize -= entry.counts;
      return;
    }
    this.lastQueued = entry.commit.sequence;
    this.waiting.push(entry);
  }

  private pump(): void {
    while (this.wanted && this.state !== 'over') {
      const entry = this.waiting.shift();
      if (!entry) break;
      this.liveSize -= entry.counts;
      const text = entry.commit.textAfter(this.source.after);
      if (text) this.wanted = this.push(text);
      if (entry.commit.ends) return this.finish();
    }
    if (this.waiting.length > 0 || this.state !== 'live') return;
    if (this.wanted && !this.caughtUp) {
      this.caughtUp = true;
      this.wanted = this.push(encodeControl('caught-up', this.source.about));
    }
  }

  private finish(): void {
    this.leave();
    this.push(encodeControl('end', this.source.about));
    this.push(null);
  }

  private beat(): void {
    if (this.wanted && this.waiting.length === 0 && !this.isOver()) this.wanted = this.push(PING);
  }

  private isOver(): boolean {
    return this.state === 'over';
  }

  private leave(): void {
    this.state = 'over';
    clearInterval(this.ping);
    this.unsubscribe?.();
    this.unsubscribe = undefined;
  }
}

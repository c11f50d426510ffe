import { decodeCommit } from '@runyard/event-log';
import type { EventLog, RawCommit } from '@runyard/event-log';
import type { LogStream } from '@runyard/contracts';
import { StreamedCommit } from './streamed-commit';
import type { ShownCommit } from './streamed-commit';

export interface TailSubscriber {
  /** Every commit of the subject above the tail's position at the time of subscribing, in order, once. */
  onCommit(commit: ShownCommit): void;
  /** The tail broke: what follows may have a gap, so nothing follows. */
  onLost(): void;
}

export interface TailLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** Which stream a tail follows, and how its subscribers find their commits. */
export interface Followed {
  stream: LogStream;
  /** What subscribers of a commit have subscribed to. */
  keyOf(commit: RawCommit): string;
  read(commit: RawCommit, incarnation: string): ShownCommit;
}

const RUNS: Followed = {
  stream: 'RUNS',
  keyOf: ({ subject }) => subject,
  read: (raw, incarnation) => new StreamedCommit(decodeCommit(raw), incarnation),
};

interface Running {
  stop: AbortController;
  incarnation: string;
}

/**
 * The one reader of a stream (RUNS, where nothing else is said) in this process, for all viewers (a stream allows only so many consumers).
 * Invariants:
 * I1 A subscriber is registered before the tail's start is awaited, and the tail starts above the stream's end as it was
 *    then: whoever reads the history after `subscribe` has resolved has no gap between it and what the tail delivers.
 * I2 Commits of one subject are delivered in order; a subscriber that has history drops what it already has by sequence.
 * I3 When the tail ends for any reason, all subscribers are told and none is kept: no one waits on a dead tail.
 * It runs only while somebody subscribes, and for `lingerMs` after: a gateway without viewers costs the log nothing.
 */
export class RunTail {
  private readonly subscribers = new Map<string, Set<TailSubscriber>>();
  private running: Promise<Running> | undefined;
  private linger: NodeJS.Timeout | undefined;

  constructor(
    private readonly log: Pick<EventLog, 'state' | 'tail'>,
    private readonly logger: TailLog,
    private readonly lingerMs = 30_000,
    private readonly followed: Followed = RUNS,
  ) {}

  /** Number of live subscriptions. */
  get size(): number {
    let size = 0;
    for (const set of this.subscribers.values()) size += set.size;
    return size;
  }

  /** Resolves when the tail runs (I1) with the unsubscriber; rejects, and keeps nothing, where it cannot be started. */
  async subscribe(subject: string, subscriber: TailSubscriber): Promise<() => void> {
    const set = this.subscribers.get(subject) ?? new Set();
    this.subscribers.set(subject, set.add(subscriber));
    const unsubscribe = () => this.remove(subject, subscriber);
    try {
      clearTimeout(this.linger);
      this.running ??= this.start();
      await this.running;
      return unsubscribe;
    } catch (error) {
      unsubscribe();
      throw error;
    }
  }

  /** Ends the tail; subscribers are told. */
  async stop(): Promise<void> {
    clearTimeout(this.linger);
    const running = await this.running?.catch(() => undefined);
    running?.stop.abort();
    this.lose(this.running);
  }

  private start(): Promise<Running> {
    const starting: Promise<Running> = this.log.state(this.followed.stream).then((state) => {
      const running = { stop: new AbortController(), incarnation: state.incarnation };
      void this.follow(running, state.lastSequence).then(() => this.lose(starting));
      return running;
    });
    starting.catch(() => this.lose(starting));
    return starting;
  }

  private async follow(running: Running, after: number): Promise<void> {
    try {
      for await (const raw of this.log.tail(this.followed.stream, { after, signal: running.stop.signal }))
        this.deliver(raw, running.incarnation);
    } catch (error) {
      if (!running.stop.signal.aborted)
        this.logger.warn(
          { err: error },
          `the tail of ${this.followed.stream} broke; viewers resume by their position`,
        );
    }
  }

  /** Commits that nobody watches are not even parsed. One that cannot be read ends the view of its run, and no other. */
  private deliver(raw: RawCommit, incarnation: string): void {
    const key = this.followed.keyOf(raw);
    const set = this.subscribers.get(key);
    if (!set) return;
    try {
      const commit = this.followed.read(raw, incarnation);
      for (const subscriber of set) subscriber.onCommit(commit);
    } catch (error) {
      this.logger.warn({ err: error, sequence: raw.sequence }, 'a commit could not be shown');
      this.subscribers.delete(key);
      for (const subscriber of set) subscriber.onLost();
    }
  }

  private remove(subject: string, subscriber: TailSubscriber): void {
    const set = this.subscribers.get(subject);
    if (!set?.delete(subscriber)) return;
    if (set.size === 0) this.subscribers.delete(subject);
    if (this.subscribers.size > 0) return;
    clearTimeout(this.linger);
    this.linger = setTimeout(() => void this.stop(), this.lingerMs);
    this.linger.unref();
  }

  private lose(which: Promise<Running> | undefined): void {
    if (this.running !== which) return;
    this.running = undefined;
    const all = [...this.subscribers.values()].flatMap((set) => [...set]);
    this.subscribers.clear();
    for (const subscriber of all) subscriber.onLost();
  }
}

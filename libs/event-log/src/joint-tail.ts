import { Hurries } from './hurries';
import type { Pace } from './pacing';
import { LogUnavailable } from './types';
import type { RawCommit, TailOptions } from './types';

type TailOf = (options: TailOptions) => AsyncGenerator<RawCommit[]>;

/** How a connection reads one stream. */
export interface TailSource {
  tail: TailOf;
  /** Throws CheckpointAhead where the stream does not reach a position. */
  check(after: number): Promise<void>;
}

interface Reader {
  /** Sequence of the last commit that it has. */
  after: number;
  pace: Pace;
  source: TailSource;
}

interface JointReading {
  /** Whose connection it goes over. */
  of: TailSource;
  next(): Promise<void>;
  stop(): Promise<unknown>;
}

/** A tail's options with a pace: a reader that needs each commit at once reads by itself. */
export type PacedTail = TailOptions & { pace: Pace };

/**
 * One reading of a stream for all of a process that follow it: each commit is delivered and decoded once, not once a
 * reader. Invariants:
 * 1. A reader gets every commit after its position, in order, once; where it comes from makes no difference.
 * 2. What is kept in memory is what the slowest reader has not taken, up to MOST_BYTES; a slower one reads on by itself
 *    until it has caught up, so that nobody waits for it.
 * 3. More is read only when somebody has taken everything.
 * 4. A reader fails with its own connection only. Where another's is interrupted that reads for all, it waits with it until
 *    that is back, or closed.
 */
export class JointTail {
  private readonly readers = new Set<Reader>();
  private batches: RawCommit[][] = [];
  private bytes = 0;
  /** `batches` hold every commit with a sequence above `start`. */
  private start = 0;
  private readonly hurries = new Hurries();
  private reading: JointReading | undefined;

  constructor(private readonly mostBytes = MOST_BYTES) {}

  /** As `tailBatches`. Readers of several connections may follow; a reading whose connection is lost is begun anew by another. */
  async *read({ after, signal, pace }: PacedTail, source: TailSource): AsyncGenerator<RawCommit[]> {
    const reader = { after, pace, source };
    this.readers.add(reader);
    const calm = pace.onHurry?.(() => this.hurries.tell());
    try {
      while (!signal.aborted) {
        yield* this.catchUp(reader, signal);
        yield* this.follow(reader, signal);
      }
    } finally {
      calm?.();
      this.readers.delete(reader);
      if (this.readers.size === 0) await this.stop();
      else this.trim();
    }
  }

  /** By itself, until what is kept begins at or before its position. The first reader's position is where that is. */
  private async *catchUp(reader: Reader, signal: AbortSignal): AsyncGenerator<RawCommit[]> {
    if (!this.reading) return this.begin(reader);
    if (this.covers(reader)) return reader.source.check(reader.after);
    const alone = new AbortController();
    const { after, pace, source } = reader;
    for await (const batch of source.tail({ after, pace, signal: AbortSignal.any([signal, alone.signal]) })) {
      reader.after = batch.at(-1)?.sequence ?? reader.after;
      yield batch;
      if (this.covers(reader)) alone.abort();
    }
  }

  private async *follow(reader: Reader, signal: AbortSignal): AsyncGenerator<RawCommit[]> {
    while (!signal.aborted && this.reading && this.covers(reader)) {
      const batch = this.nextFor(reader);
      if (!batch) {
        await this.more(reader, this.reading, signal);
        continue;
      }
      reader.after = batch.at(-1)?.sequence ?? reader.after;
      this.trim();
      yield batch;
    }
  }

  private async more(reader: Reader, reading: JointReading, signal: AbortSignal): Promise<void> {
    try {
      await orAborted(reading.next(), signal);
    } catch (error) {
      // Only what is said of the connection is of no concern to readers of another; the stream is everybody's.
      if (reading.of === reader.source || !(error instanceof LogUnavailable)) throw error;
    }
  }

  private covers({ after }: Reader): boolean {
    return this.reading !== undefined && after >= this.start;
  }

  private nextFor({ after }: Reader): RawCommit[] | undefined {
    const batch = this.batches.find((one) => (one.at(-1)?.sequence ?? 0) > after);
    return batch && (batch[0]?.sequence ?? 0) > after
      ? batch
      : batch?.filter(({ sequence }) => sequence > after);
  }

  private begin({ after, source }: Reader): void {
    this.start = after;
    const stopping = new AbortController();
    const batches = source.tail({ after, signal: stopping.signal, pace: this.jointPace() });
    let pulling: Promise<void> | undefined;
    this.reading = {
      of: source,
      // One question at a time, whoever asks; all who wait hear of its answer, also of its failure.
      next: () => (pulling ??= this.pull(batches).finally(() => (pulling = undefined))),
      // A reading that is not asked for more would not notice the abort, and leave its consumer behind.
      stop: () => {
        stopping.abort();
        return batches.return(undefined);
      },
    };
  }

  /** As quick as the quickest reader. */
  private jointPace(): Pace {
    const { readers, hurries } = this;
    return {
      get gatherMs() {
        return Math.min(...[...readers].map(({ pace }) => pace.gatherMs));
      },
      onHurry: (hurry) => hurries.listen(hurry),
    };
  }

  private async pull(batches: AsyncGenerator<RawCommit[]>): Promise<void> {
    const { reading } = this;
    try {
      const { done, value } = await batches.next();
      if (this.reading !== reading) return;
      if (done) return await this.stop();
      this.batches.push(value);
      for (const { body } of value) this.bytes += body.byteLength;
      this.trim();
    } catch (error) {
      if (this.reading === reading) await this.stop();
      throw error;
    }
  }

  /** Forgets what everybody has, and what is too much to be kept for those who are slow. */
  private trim(): void {
    const slowest = Math.min(...[...this.readers].map(({ after }) => after));
    for (;;) {
      const last = this.batches[0]?.at(-1)?.sequence;
      if (last === undefined || (last > slowest && this.bytes <= this.mostBytes)) return;
      for (const { body } of this.batches.shift() ?? []) this.bytes -= body.byteLength;
      this.start = last;
    }
  }

  private async stop(): Promise<void> {
    const { reading } = this;
    this.reading = undefined;
    this.batches = [];
    this.bytes = 0;
    await reading?.stop();
  }
}

const MOST_BYTES = 8 * 1024 * 1024;

/** Resolves with the work or with the abort; the work goes on for others. */
async function orAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  let leave: () => void = () => undefined;
  const aborted = new Promise<void>((resolve) => (leave = resolve));
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) leave();
  try {
    await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', leave);
    work.catch(() => undefined);
  }
}

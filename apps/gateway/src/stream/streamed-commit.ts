import { isAfter } from './cursor';
import type { Cursor } from './cursor';
import { encodeEvent, endsRun, framesOf } from './frame';
import type { StreamableCommit } from './frame';

interface EncodedFrame {
  index: number;
  text: string;
  ends: boolean;
}

/** A commit as viewers get it. */
export interface ShownCommit {
  readonly sequence: number;
  /** True where nothing is shown after it. */
  readonly ends: boolean;
  /** What it counts for in a viewer's buffer, in UTF-16 units. */
  readonly size: number;
  /** The wire form of its events after `cursor`. */
  textAfter(cursor: Cursor | undefined): string;
}

/** A commit on its way to viewers: encoded once, however many of them watch, and only if somebody does. */
export class StreamedCommit implements ShownCommit {
  private encoded: EncodedFrame[] | undefined;

  constructor(
    private readonly commit: StreamableCommit,
    private readonly incarnation: string,
  ) {}

  get sequence(): number {
    return this.commit.sequence;
  }

  /** True where the commit holds the event that ends the run, wherever a cursor stands. */
  get ends(): boolean {
    return this.frames().some((frame) => frame.ends);
  }

  /** The wire form of the events after `cursor`, up to and with the one that ends the run. */
  textAfter(cursor: Cursor | undefined): string {
    const end = this.frames().findIndex((frame) => frame.ends);
    const shown = end < 0 ? this.frames() : this.frames().slice(0, end + 1);
    return shown
      .filter((frame) => isAfter({ sequence: this.sequence, index: frame.index }, cursor))
      .map((frame) => frame.text)
      .join('');
  }

  /** Size of the whole commit on the wire, in UTF-16 units: what it counts for in a viewer's buffer. */
  get size(): number {
    return this.frames().reduce((sum, frame) => sum + frame.text.length, 0);
  }

  private frames(): EncodedFrame[] {
    this.encoded ??= framesOf(this.commit).map((frame, index) => ({
      index,
      text: encodeEvent(frame, this.incarnation),
      ends: endsRun(frame.type),
    }));
    return this.encoded;
  }
}

import type { LogStream } from '@runyard/contracts';
import { JointTail } from './joint-tail';
import type { TailSource } from './joint-tail';
import type { TailParts } from './reading';
import { checkReach, tailBatches } from './tail';
import type { RawCommit, TailOptions } from './types';

/** Joint readings by stream: of one connection, or of all that a process opens and that may read the same. */
export class JointTails {
  private readonly joint = new Map<LogStream, JointTail>();

  /** Tails of a connection: of whole streams in common with the others; one with a filter or without a pace is one of its own. */
  over(parts: TailParts): (stream: LogStream, options: TailOptions) => AsyncGenerator<RawCommit[]> {
    const sources = new Map<LogStream, TailSource>();
    return (stream, options) => {
      const { pace } = options;
      if (options.filter !== undefined || !pace) return tailBatches(parts, stream, options);
      const source = sources.get(stream) ?? sourceOf(parts, stream);
      sources.set(stream, source);
      return this.of(stream).read({ ...options, pace }, source);
    };
  }

  private of(stream: LogStream): JointTail {
    const known = this.joint.get(stream) ?? new JointTail();
    this.joint.set(stream, known);
    return known;
  }
}

const sourceOf = (parts: TailParts, stream: LogStream): TailSource => ({
  tail: (options) => tailBatches(parts, stream, options),
  check: async (after) => checkReach(stream, after, undefined, await parts.history.state(stream)),
});

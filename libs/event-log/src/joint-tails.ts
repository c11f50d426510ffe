import type { LogStream } from '@runyard/contracts';
import { JointTail } from './joint-tail';
import type { TailSource } from './joint-tail';
import type { TailParts } from './reading';
import { checkReach, tailBatches } from './tail';
import type { RawCommit, TailOptions } from './types';

/** Joint readings by stream: of one connection, or of all that a process opens and that may read the same. */
export class JointTails {
  private readonly joint = new Map<LogStream, JointTail>();

  of(stream: LogStream): JointTail {
    const known = this.joint.get(stream) ?? new JointTail();
    this.joint.set(stream, known);
    return known;
  }
}

/** Tails of whole streams, joint per stream; a tail with a filter or without a pace is one of its own. */
export function jointTails(
  parts: TailParts,
  shared: JointTails,
): (stream: LogStream, options: TailOptions) => AsyncGenerator<RawCommit[]> {
  const sources = new Map<LogStream, TailSource>();
  const sourceOf = (stream: LogStream): TailSource => {
    const known = sources.get(stream) ?? {
      tail: (options) => tailBatches(parts, stream, options),
      check: async (after) => checkReach(stream, after, undefined, await parts.history.state(stream)),
    };
    sources.set(stream, known);
    return known;
  };
  return (stream, options) => {
    const { pace } = options;
    if (options.filter !== undefined || !pace) return tailBatches(parts, stream, options);
    return shared.of(stream).read({ ...options, pace }, sourceOf(stream));
  };
}

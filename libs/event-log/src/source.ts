import type { LogStream } from '@runyard/contracts';
import type { Pace } from './pacing';
import type { EventLog, RawCommit, StreamState } from './types';

/** A stream as a projection's source: what lies there now, and every commit after a checkpoint (architecture, section 5). */
export interface StreamSource {
  state(): Promise<StreamState>;
  read(after: number, signal: AbortSignal): AsyncIterable<RawCommit>;
  readBatches(after: number, signal: AbortSignal, pace?: Pace): AsyncIterable<RawCommit[]>;
}

export function streamSource(log: EventLog, stream: LogStream, filter?: string): StreamSource {
  return {
    state: () => log.state(stream),
    read: (after, signal) => log.tail(stream, { after, filter, signal }),
    readBatches: (after, signal, pace) => log.tailBatches(stream, { after, filter, signal, pace }),
  };
}

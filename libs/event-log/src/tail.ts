import { setTimeout as wait } from 'node:timers/promises';
import type { LogStream } from '@runyard/contracts';
import type { TailParts } from './reading';
import { Reading } from './reading';
import { ApiError, CODES, isPassing, pauseMs } from './stream-api';
import type { RawCommit, StreamState, TailOptions } from './types';
import { CheckpointAhead, LogUnavailable } from './types';

/** For one round of questions; a tail asks again for ever. */
const PATIENCE = { tryMs: 2_000, limitMs: 4_000 };

/**
 * Commits of a stream in order and without gaps, for ever. Every irregularity (reconnect, silence, missing delivery,
 * deleted consumer) ends a reading; the next one starts after the last commit that was handed out, and only if the
 * stream is still the same and still reaches that far. Acknowledgements and durable consumers take no part: they lose
 * events after a kill (measured).
 */
export async function* tailBatches(
  parts: TailParts,
  stream: LogStream,
  options: TailOptions,
): AsyncGenerator<RawCommit[]> {
  const { signal } = options;
  let { after } = options;
  let incarnation: string | undefined;
  for (let failures = 0; !signal.aborted;) {
    const opened = await open(parts, stream, after, incarnation, options);
    if (!opened) {
      if (parts.connection.isClosed()) throw new LogUnavailable('The connection is closed');
      await wait(pauseMs(failures++));
      continue;
    }
    failures = 0;
    incarnation = opened.incarnation;
    const { reading } = opened;
    const abort = () => reading.end('aborted');
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    try {
      for (let batch = await reading.next(); batch && !signal.aborted; batch = await reading.next()) {
        after = batch.at(-1)?.sequence ?? after;
        yield batch;
      }
    } finally {
      signal.removeEventListener('abort', abort);
      await reading.close();
    }
    if (!signal.aborted) parts.notice({ kind: 'tail_resumed', stream, after, detail: reading.ended ?? '' });
  }
}

/** Checks the stream and starts a reading; undefined where the server does not answer at the moment. */
async function open(
  parts: TailParts,
  stream: LogStream,
  after: number,
  incarnation: string | undefined,
  options: TailOptions,
) {
  try {
    const state = await parts.history.state(stream, PATIENCE);
    checkReach(stream, after, incarnation, state);
    return {
      incarnation: state.incarnation,
      reading: await Reading.start(parts, stream, after + 1, options),
    };
  } catch (error) {
    const gone = error instanceof ApiError && error.code === CODES.streamNotFound;
    if (gone || error instanceof LogUnavailable || isPassing(error)) return undefined;
    throw error;
  }
}

/** Throws CheckpointAhead where a stream ends before a position or was created anew under a reader. */
export function checkReach(
  stream: LogStream,
  after: number,
  incarnation: string | undefined,
  state: StreamState,
): void {
  const replaced = after > 0 && incarnation !== undefined && incarnation !== state.incarnation;
  if (state.lastSequence < after || replaced) throw new CheckpointAhead(stream, after, state);
}

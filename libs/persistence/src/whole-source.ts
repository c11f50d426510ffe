import { Arrivals } from './arrivals';
import type { Checkpoint, SourceState } from './checkpoints';
import type { CommitSource, ProjectedCommit, ReadingPace } from './types';

/** The stream no longer holds what comes next, and the archive has not (yet) passed that place either. */
export class MissingHistory extends Error {}

export interface Gap {
  /** First and last sequence that the stream no longer holds. */
  from: number;
  to: number;
}

/** What a stream that dropped its oldest messages (limits, erasure) no longer tells a projection at this checkpoint. */
export function gapBefore(state: SourceState, checkpoint: Checkpoint): Gap | undefined {
  return state.firstSequence > checkpoint.position + 1
    ? { from: checkpoint.position + 1, to: state.firstSequence - 1 }
    : undefined;
}

async function covering(history: CommitSource, gap: Gap, incarnation: string): Promise<CommitSource> {
  const state = await history.state();
  if (state.incarnation !== incarnation || state.lastSequence < gap.to)
    throw new MissingHistory(
      `The stream begins at ${gap.to + 1}; ${gap.from} to ${gap.to} are not in the archive, which ends at ${state.lastSequence}`,
    );
  return history;
}

/** A source's commits as they arrive, many at a time where the source can tell. */
export async function* batchesOf(
  source: CommitSource,
  after: number,
  signal: AbortSignal,
  { until, pace }: { until?: number; pace?: ReadingPace } = {},
): AsyncGenerator<readonly ProjectedCommit[]> {
  if (source.readBatches) yield* source.readBatches(after, signal, pace, until);
  else for await (const commit of source.read(after, signal, until)) yield [commit];
}

/**
 * Commits after the checkpoint without a gap: what the stream has dropped is read from the archive first. What was erased
 * is in neither, and stays away. Throws MissingHistory.
 */
export async function* readWhole(
  source: CommitSource,
  history: CommitSource,
  checkpoint: Checkpoint,
  state: SourceState,
  signal: AbortSignal,
  pace?: ReadingPace,
): AsyncGenerator<readonly ProjectedCommit[]> {
  const gap = gapBefore(state, checkpoint);
  if (gap)
    yield* batchesOf(await covering(history, gap, state.incarnation), checkpoint.position, signal, {
      until: gap.to,
    });
  yield* batchesOf(source, gap ? gap.to : checkpoint.position, signal, { pace });
}

/** Commits that a rebuild applies in one go. */
const BATCH = 1_000;

/**
 * A source's commits after `after` and up to `until`, in batches; ends there, or where the source ends. `last`: how far
 * that is in the source, also where what lay there was erased.
 */
export async function* commitsUpTo(
  source: CommitSource,
  after: number,
  until: number,
  signal: AbortSignal,
): AsyncGenerator<{ commits: readonly ProjectedCommit[]; last: number }> {
  const stop = new AbortController();
  const batches = batchesOf(source, after, AbortSignal.any([signal, stop.signal]), { until });
  const arrivals = new Arrivals(batches, 2 * BATCH);
  try {
    for (let last = after; last < until;) {
      const batch = await arrivals.take(BATCH);
      if (!batch) break;
      last = Math.min(batch.at(-1)?.sequence ?? last, until);
      yield { commits: batch.filter(({ sequence }) => sequence <= until), last };
    }
    signal.throwIfAborted();
  } finally {
    stop.abort();
    await arrivals.settled();
  }
}

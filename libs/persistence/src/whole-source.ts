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
  if (source.readBatches && until === undefined) yield* source.readBatches(after, signal, pace);
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

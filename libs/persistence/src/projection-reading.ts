import { archiveSource } from './archive-source';
import { ARCHIVE } from './archive.projection';
import type { Checkpoint, SourceState } from './checkpoints';
import type { ProjectionOptions } from './projection-options';
import type { ProjectedCommit, ReadingPace } from './types';
import { batchesOf, gapBefore, readWhole } from './whole-source';

/** What a projection has not read: from the archive where the stream no longer holds it, then from the stream. */
export function readFrom(
  { db, source, projection, history, onAlarm }: ProjectionOptions,
  checkpoint: Checkpoint,
  state: SourceState,
  signal: AbortSignal,
  pace?: ReadingPace,
): AsyncIterable<readonly ProjectedCommit[]> {
  if (projection.checkpointSchema !== ARCHIVE || history) {
    const past = history ?? archiveSource(db, projection.stream, projection.filter);
    return readWhole(source, past, checkpoint, state, signal, pace);
  }
  const gap = gapBefore(state, checkpoint);
  // Nobody holds what the archive itself has missed, and to stop would only let it miss more.
  if (gap)
    onAlarm?.(
      `${projection.stream} dropped ${gap.from} to ${gap.to} before they were archived (or they were erased)`,
    );
  return batchesOf(source, checkpoint.position, signal, { pace });
}

import type { LogStream } from '@runyard/contracts';
import { streamSource } from '@runyard/event-log';
import { archiveSource } from '@runyard/persistence';
import type { CommitSource } from '@runyard/persistence';
import type { Installation } from './installation';
import { CommandFailed } from './terminal';

export type SourceName = 'stream' | 'archive';

/** Where a projection is rebuilt from: the stream itself, or its copy in Postgres. */
export async function sourceOf(
  installation: Installation,
  from: SourceName,
  stream: string,
  filter?: string,
): Promise<CommitSource> {
  if (from === 'archive') return archiveSource(installation.db, stream, filter);
  const { log } = await installation.bus();
  const source = streamSource(log, stream as LogStream, filter);
  await refuseCut(installation, source, stream);
  return source;
}

/**
 * A stream that begins later than at 1 has either dropped its beginning, and then only the archive has it all, or the
 * beginning was erased, and then the archive has no more of it either.
 */
async function refuseCut({ db }: Installation, source: CommitSource, stream: string): Promise<void> {
  const { firstSequence } = await source.state();
  if (firstSequence <= 1) return;
  const archived = await archiveSource(db, stream).state();
  const erased =
    archived.lastSequence >= firstSequence - 1 &&
    (archived.firstSequence === 0 || archived.firstSequence >= firstSequence);
  if (!erased)
    throw new CommandFailed(
      `The stream ${stream} begins at ${firstSequence}; use --from archive, which keeps what the stream dropped`,
    );
}

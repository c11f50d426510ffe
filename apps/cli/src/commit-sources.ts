import type { LogStream } from '@runyard/contracts';
import { streamSource } from '@runyard/event-log';
import { archiveSource } from '@runyard/persistence';
import type { CommitSource, ProjectedCommit } from '@runyard/persistence';
import type { Installation } from './installation';
import type { OwnerDatabase } from './owner-database.adapter';
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
  const source = new BoundedStream(streamSource(log, stream as LogStream, filter), installation.db, stream);
  await refuseCut(installation, source, stream);
  return source;
}

/**
 * A stream that is read up to a sequence: a reader of a stream waits for what comes next, and where the last messages were
 * erased nothing comes. What still lies there at the end, the archive knows.
 */
class BoundedStream implements CommitSource {
  constructor(
    private readonly source: CommitSource,
    private readonly db: OwnerDatabase,
    private readonly stream: string,
  ) {}

  state(): ReturnType<CommitSource['state']> {
    return this.source.state();
  }

  read(after: number, signal: AbortSignal): AsyncIterable<ProjectedCommit> {
    return this.source.read(after, signal);
  }

  async *readBatches(
    after: number,
    signal: AbortSignal,
    _pace?: unknown,
    until?: number,
  ): AsyncGenerator<readonly ProjectedCommit[]> {
    const last = until === undefined ? Number.MAX_SAFE_INTEGER : await this.lastUpTo(until);
    if (last <= after) return;
    const batches = this.source.readBatches?.(after, signal) ?? [];
    for await (const batch of batches) {
      yield batch;
      if ((batch.at(-1)?.sequence ?? 0) >= last) return;
    }
  }

  private async lastUpTo(until: number): Promise<number> {
    const archived = await archiveSource(this.db, this.stream).state();
    if (archived.lastSequence < until) return until;
    const [row] = await this.db.read((tx) =>
      tx.query<{ last: string | null }>(
        'SELECT max(sequence) AS last FROM archive.event_log WHERE stream = $1 AND sequence <= $2',
        [this.stream, until],
      ),
    );
    return Number(row?.last ?? 0);
  }
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
      `The stream ${stream} begins at ${firstSequence}; use the archive (--from archive), which keeps what the stream dropped`,
    );
}

import type { LogStream } from '@runyard/contracts';
import { streamSource } from '@runyard/event-log';
import type { EventLog } from '@runyard/event-log';
import { archiveSource, connectDatabase, rebuildAndCompare } from '@runyard/persistence';
import type { PROJECTIONS } from '../../apps/cli/src/projections';
import type { Stack } from '../../deploy/local/stack';

type Entry = (typeof PROJECTIONS)[number];

/** A projection that was made anew and compared. */
export interface Rebuilt {
  projection: string;
  source: 'stream' | 'archive';
  equal: boolean;
  rows: number;
  /** Rebuilding and comparing; 0 where its stream holds nothing. */
  milliseconds: number;
}

/** Rebuilds every projection from its stream, and those of RUNS from the archive too. */
export async function* rebuildAll(
  entries: readonly Entry[],
  stack: Stack,
  log: EventLog,
): AsyncGenerator<Rebuilt> {
  const archive = connectDatabase({
    url: stack.urlOf('run-executor'),
    acrossUrl: stack.acrossUrlOf('run-executor'),
    applicationName: 'bench replay',
  });
  try {
    for (const entry of entries) {
      const { stream, filter } = entry.projection;
      yield await rebuilt(entry, stack, 'stream', streamSource(log, stream as LogStream, filter));
      if (stream === 'RUNS')
        yield await rebuilt(entry, stack, 'archive', archiveSource(archive, stream, filter));
    }
  } finally {
    await archive.close();
  }
}

async function rebuilt(
  { telling: _telling, ...entry }: Entry,
  { ownerUrl }: Stack,
  source: Rebuilt['source'],
  commits: Parameters<typeof rebuildAndCompare>[0]['source'],
): Promise<Rebuilt> {
  const startedAt = performance.now();
  const { tables, position } = await rebuildAndCompare({ ...entry, ownerUrl, source: commits });
  return {
    projection: entry.projection.name,
    source,
    equal: tables.every(({ missing, extra }) => missing === 0 && extra === 0),
    rows: tables.reduce((sum, { rows }) => sum + rows, 0),
    milliseconds: position === 0 ? 0 : performance.now() - startedAt,
  };
}

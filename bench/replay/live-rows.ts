import type { LogStream } from '@runyard/contracts';
import { streamSource } from '@runyard/event-log';
import type { EventLog } from '@runyard/event-log';
import { archiveProjection, connectDatabase, runProjection } from '@runyard/persistence';
import type { Database, Projection } from '@runyard/persistence';
import type { PROJECTIONS } from '../../apps/cli/src/projections';
import type { Stack } from '../../deploy/local/stack';

type Entries = typeof PROJECTIONS;

/** Lets every projection and the archive read to the ends of their streams, as services do; milliseconds until the last is there. */
export async function projectLive(entries: Entries, stack: Stack, log: EventLog): Promise<number> {
  const databases = new Map<string, Database>();
  const databaseOf = (schema: string): Database => {
    const service = schema.replaceAll('_', '-');
    const known = databases.get(service);
    const db =
      known ??
      connectDatabase({
        url: stack.urlOf(service),
        acrossUrl: stack.acrossUrlOf(service),
        applicationName: 'bench replay',
      });
    databases.set(service, db);
    return db;
  };
  const startedAt = performance.now();
  const wanted = [
    ...entries.map(({ projection, schema }) => ({ projection, db: databaseOf(schema) })),
    { projection: archiveProjection('RUNS'), db: databaseOf('run_executor') },
  ];
  await Promise.all(wanted.map(({ projection, db }) => untilEnd(projection, db, log)));
  const milliseconds = performance.now() - startedAt;
  await Promise.all([...databases.values()].map((db) => db.close()));
  return milliseconds;
}

async function untilEnd(projection: Projection, db: Database, log: EventLog): Promise<void> {
  const stream = projection.stream as LogStream;
  const { lastSequence } = await log.state(stream);
  const stop = new AbortController();
  let fault: string | null = null;
  await runProjection({
    db,
    source: streamSource(log, stream, projection.filter),
    projection,
    signal: stop.signal,
    onStatus: (status) => {
      fault = status.fault;
      if (fault !== null || (status.state === 'running' && status.position >= lastSequence)) stop.abort();
    },
  });
  if (fault !== null) throw new Error(`${projection.name}: ${String(fault)}`);
}

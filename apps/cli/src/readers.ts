import { setTimeout as wait } from 'node:timers/promises';
import type { LogStream } from '@runyard/contracts';
import { newestOf, storedCheckpoints } from './checkpoints';
import type { StoredCheckpoint } from './checkpoints';
import type { Installation } from './installation';
import { LOG_STREAMS } from './streams';
import { CommandFailed } from './terminal';

const LOOK_MS = 100;
const PATIENCE_MS = 30_000;

/** Readers of a part of their stream, and what their subjects begin with: a checkpoint moves with what concerns it. */
const FILTERED: Readonly<Record<string, string>> = {
  'run-executor-agents': 'runyard.agents.',
  'run-executor-decisions': 'runyard.approvals.',
};

/** Whether something that concerns a reader lies before it; the archive, a reader of everything, says so for filtered ones. */
async function isLate({ db }: Installation, reader: StoredCheckpoint, sequence: number): Promise<boolean> {
  const beginning = FILTERED[reader.projection];
  if (beginning === undefined) return true;
  const [next] = await db.read((tx) =>
    tx.query(
      'SELECT 1 FROM archive.event_log WHERE stream = $1 AND sequence > $2 AND sequence <= $3 AND starts_with(subject, $4) LIMIT 1',
      [reader.stream, reader.position, sequence, beginning],
    ),
  );
  return next !== undefined;
}

/**
 * Waits until everybody who reads a stream (projections, reactions, the archive) has come as far as `sequence`: what is
 * overwritten before somebody has read it is lost to him. Throws CommandFailed, naming who does not come.
 */
export async function readersReach(
  installation: Installation,
  stream: LogStream,
  sequence: number,
  signal: AbortSignal,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  const { db } = installation;
  for (const until = Date.now() + patienceMs; ; await wait(LOOK_MS, undefined, { signal })) {
    const readers = newestOf(await db.read(storedCheckpoints)).filter((one) => one.stream === stream);
    const behind = readers.filter(({ position }) => position < sequence);
    const late: StoredCheckpoint[] = [];
    for (const one of behind) if (await isLate(installation, one, sequence)) late.push(one);
    if (late.length === 0 && readers.length > 0) return;
    if (Date.now() < until) continue;
    const who = late.map(({ schema, projection, position }) => `${schema}.${projection} is at ${position}`);
    throw new CommandFailed(
      `Not everybody has read ${stream} up to ${sequence} (${who.join(', ') || 'nobody reads it'}); start the services, mend what is faulted, and say this again`,
    );
  }
}

/** Waits until everybody has read some streams (all of them) as far as they go now. */
export async function everybodyRead(
  installation: Installation,
  signal: AbortSignal,
  streams: readonly LogStream[] = LOG_STREAMS,
): Promise<void> {
  const { log } = await installation.bus();
  for (const stream of streams) {
    const { lastSequence } = await log.state(stream);
    if (lastSequence > 0) await readersReach(installation, stream, lastSequence, signal);
  }
}

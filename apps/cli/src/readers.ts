import { setTimeout as wait } from 'node:timers/promises';
import type { LogStream } from '@runyard/contracts';
import { newestOf, storedCheckpoints } from './checkpoints';
import type { Installation } from './installation';
import { CommandFailed } from './terminal';

const LOOK_MS = 100;
const PATIENCE_MS = 30_000;

/**
 * Waits until everybody who reads a stream (projections, reactions, the archive) has come as far as `sequence`: what is
 * overwritten before somebody has read it is lost to him. Throws CommandFailed, naming who does not come.
 */
export async function readersReach(
  { db }: Installation,
  stream: LogStream,
  sequence: number,
  signal: AbortSignal,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  for (const until = Date.now() + patienceMs; ; await wait(LOOK_MS, undefined, { signal })) {
    const readers = newestOf(await db.read(storedCheckpoints)).filter((one) => one.stream === stream);
    const late = readers.filter(({ position }) => position < sequence);
    if (late.length === 0 && readers.length > 0) return;
    if (Date.now() < until) continue;
    const who = late.map(({ schema, projection, position }) => `${schema}.${projection} is at ${position}`);
    throw new CommandFailed(
      `Not everybody has read ${stream} up to ${sequence} (${who.join(', ') || 'nobody reads it'}); start the services, mend what is faulted, and say this again`,
    );
  }
}

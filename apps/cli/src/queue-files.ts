import { setTimeout as wait } from 'node:timers/promises';
import { streamOperations } from '@runyard/event-log';
import type { Installation } from './installation';

const QUEUE = 'REQUESTS';
const LOOK_MS = 50;
/** A queue that is not empty once in this time holds requests that wait for something. */
const PATIENCE_MS = 5_000;

/**
 * Waits until the queue of requests has been empty once, and returns how many lie in it where it has not. A request that was
 * acknowledged cannot be overwritten any more: its text stays in the file of the log's server as long as another one of the
 * same file waits, and goes with the file when the last of them is acknowledged (libs/event-log, queue-files.int.spec.ts).
 */
export async function requestsBeside(installation: Installation): Promise<number> {
  const operations = streamOperations((await installation.bus()).connection);
  const end = Date.now() + PATIENCE_MS;
  try {
    for (;;) {
      const waiting = (await operations.report(QUEUE))?.messages ?? 0;
      if (waiting === 0 || Date.now() > end) return waiting;
      await wait(LOOK_MS);
    }
  } finally {
    operations.close();
  }
}

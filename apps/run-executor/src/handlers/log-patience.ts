import { setTimeout as wait } from 'node:timers/promises';
import { LogUnavailable } from '@runyard/event-log';

/** A log that does not answer is asked again after this long. */
export const LOG_RETRY_MS = 250;

/** Asks the log until it answers. */
export async function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof LogUnavailable)) throw error;
      await wait(LOG_RETRY_MS);
    }
  }
}

import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Problem } from '@runyard/contracts';
import { headers as newHeaders } from '@nats-io/transport-node';
import { MESSAGE_ID } from './commit';
import type { Exchange } from './exchange';
import { NoAnswer } from './exchange';
import type { Patience } from './stream-api';
import { ApiError, CODES, isPassing, parseAnswer, pauseMs } from './stream-api';
import { LogUnavailable } from './types';

/** Largest body of a queue message; leaves room under the server's max_payload for the headers of a dead letter. */
export const MAX_QUEUE_BYTES = 992 * 1024;

/** A message for a work queue or the dead letters. */
export interface QueueItem {
  subject: string;
  body: Uint8Array;
  headers: Record<string, string>;
}

/**
 * Publishes with a random message id that is used again for resends of this very publication only (P1.1): an id that
 * stood for the content would let the duplicate window swallow a second wake or the retry of a dead letter.
 * Resolves when stored. Throws LogUnavailable, and a Problem `payload_too_large`.
 */
export async function publishItem(
  exchange: Exchange,
  item: QueueItem,
  patience: Patience,
): Promise<{ sequence: number }> {
  const id = randomUUID();
  const until = performance.now() + patience.limitMs;
  for (let attempt = 0; ; attempt++) {
    const headers = newHeaders();
    for (const [name, value] of Object.entries(item.headers)) headers.set(name, value);
    headers.set(MESSAGE_ID, id);
    try {
      const answer = await exchange.request(item.subject, item.body, patience.tryMs, headers);
      return { sequence: parseAnswer<{ seq: number }>(answer).seq };
    } catch (error) {
      if (error instanceof ApiError && error.code === CODES.messageTooLarge)
        throw tooLarge(item.body.byteLength);
      if (!isPassing(error) && !(error instanceof NoAnswer)) throw error;
      if (performance.now() >= until || !isPassing(error))
        throw new LogUnavailable(`${item.subject} did not take the message: ${(error as Error).message}`);
      if (!(error instanceof NoAnswer) || error.why === 'no_responders') await wait(pauseMs(attempt));
    }
  }
}

export const tooLarge = (bytes: number): Problem =>
  new Problem(
    'payload_too_large',
    `The message has ${bytes} bytes; ${MAX_QUEUE_BYTES} are the most a queue takes`,
    {
      bytes,
      limit: MAX_QUEUE_BYTES,
    },
  );

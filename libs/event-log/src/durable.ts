import type { Exchange } from './exchange';
import { ApiError, ask } from './stream-api';

/** The server stops delivering to all workers of a queue together when so many are unsettled. */
const MAX_ACK_PENDING = 2_000;
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 120_000;
const PATIENCE = { tryMs: 2_000, limitMs: 10_000 };
const OVERLAPS = [10099, 10100];
const nanos = (ms: number) => ms * 1_000_000;

/** Pause after the n-th failed attempt: 0.25 s, 0.75 s, 2.25 s … 2 min; twelve attempts span eleven minutes (case C77). */
export const delayAfter = (attempt: number): number =>
  Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 3 ** (attempt - 1));

/** Another durable consumer already takes messages of this queue: each would see only a part of them (case C78). */
export class OverlappingConsumer extends Error {
  constructor(queue: string, durable: string, reason: string) {
    super(
      `${durable} cannot consume ${queue}: ${reason}. A work queue has one durable consumer, shared by its workers`,
    );
  }
}

/** Creates the durable consumer, or brings it to this configuration; the same for every worker of the queue. */
export async function ensureConsumer(
  exchange: Exchange,
  options: { queue: string; durable: string; ackWaitMs: number },
): Promise<void> {
  const { queue, durable, ackWaitMs } = options;
  const config = {
    durable_name: durable,
    name: durable,
    deliver_policy: 'all',
    ack_policy: 'explicit',
    ack_wait: nanos(ackWaitMs),
    max_deliver: -1,
    max_ack_pending: MAX_ACK_PENDING,
  };
  const body = JSON.stringify({ stream_name: queue, config });
  try {
    await ask(exchange, `CONSUMER.CREATE.${queue}.${durable}`, body, PATIENCE);
  } catch (error) {
    if (error instanceof ApiError && OVERLAPS.includes(error.code))
      throw new OverlappingConsumer(queue, durable, error.description);
    throw error;
  }
}

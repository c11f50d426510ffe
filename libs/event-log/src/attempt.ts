import { deadLetterOf } from './dead-letter';
import type { InHand } from './delivery';
import { delayAfter } from './durable';
import type { Exchange } from './exchange';
import { withLimit } from './limit';
import { publishItem } from './publish';
import type { QueueConsumerOptions } from './queue';
import { Poison, RetryLater } from './queue';
import type { Notice } from './types';

const PATIENCE = { tryMs: 2_000, limitMs: 10_000 };
/** Delays while a dead letter cannot be stored grow no further than after this attempt. */
const BURIAL_DELAY_STEP = 6;

export interface AttemptParts {
  exchange: Exchange;
  notice(notice: Notice): void;
  now(): number;
}

export type AttemptOptions = Pick<QueueConsumerOptions, 'queue' | 'durable' | 'handler' | 'onDead'> &
  Required<Pick<QueueConsumerOptions, 'maxAttempts' | 'handlerLimitMs'>>;

/**
 * One attempt to handle a message, up to its end: acknowledged, given back, or dead-lettered and terminated. Resolves to
 * a delay in milliseconds where the handler asked for one (RetryLater); the message is then still in hand.
 */
export async function attempt(
  parts: AttemptParts,
  options: AttemptOptions,
  one: InHand,
): Promise<number | undefined> {
  const { message } = one;
  if (message.attempt > options.maxAttempts)
    return bury(parts, options, one, `delivered ${message.attempt} times without coming to an end`);
  try {
    await withLimit(options.handler(message), options.handlerLimitMs, 'the handler');
  } catch (error) {
    if (error instanceof RetryLater) return error.delayMs;
    const detail = error instanceof Error ? error.message : String(error);
    if (error instanceof Poison || message.attempt >= options.maxAttempts)
      return bury(parts, options, one, detail);
    tell(parts, options, one, 'attempt_failed', detail);
    return end(one.giveBack(delayAfter(message.attempt)));
  }
  return end(one.ack());
}

/** The owner's fence, then the dead letter, then the end. What fails on the way is tried again later. */
async function bury(
  parts: AttemptParts,
  options: AttemptOptions,
  one: InHand,
  reason: string,
): Promise<undefined> {
  const { message } = one;
  try {
    const fence = options.onDead?.(message, reason);
    if (fence) await withLimit(fence, options.handlerLimitMs, 'the fence of the dead letter');
    await publishItem(parts.exchange, deadLetterOf(options, one, reason, parts.now()), PATIENCE);
  } catch (error) {
    const detail = `could not be dead-lettered: ${(error as Error).message}`;
    tell(parts, options, one, 'attempt_failed', detail);
    return end(one.giveBack(delayAfter(Math.min(message.attempt, BURIAL_DELAY_STEP))));
  }
  tell(parts, options, one, 'dead_lettered', reason);
  return end(one.terminate(reason));
}

async function end(settled: Promise<void>): Promise<undefined> {
  await settled;
  return undefined;
}

function tell(
  parts: AttemptParts,
  { queue, durable }: AttemptOptions,
  { message }: InHand,
  kind: 'attempt_failed' | 'dead_lettered',
  detail: string,
): void {
  parts.notice({ kind, queue, durable, sequence: message.sequence, attempt: message.attempt, detail });
}

import type { Exchange } from './exchange';
import type { Delivery } from './pull';
import type { QueueMessage } from './queue';

const SETTLE_TRIES = 4;
const SETTLE_TRY_MS = 1_000;
const WORKING = '+WPI';
const ACK = '+ACK';

/** Longest reason that is sent along; the whole one is in the dead letter. */
const REASON_LENGTH = 200;

/**
 * A message in hand. Settled once: acknowledged, given back or terminated. Settling asks for an answer and repeats itself,
 * since a lost acknowledgement would have done work done again.
 */
export class InHand {
  readonly message: QueueMessage;
  readonly storedAt: number;
  private settled: Promise<void> | undefined;

  constructor(
    private readonly exchange: Exchange,
    private readonly delivery: Delivery,
    private readonly say: (reply: string, payload: string) => void,
  ) {
    const headers: Record<string, string> = {};
    for (const [name, values] of delivery.message.headers ?? []) headers[name] = values[0] ?? '';
    this.storedAt = delivery.storedAt;
    this.message = {
      subject: delivery.message.subject,
      sequence: delivery.sequence,
      headers,
      body: delivery.message.data,
      attempt: delivery.attempt,
      working: () => this.working(),
    };
  }

  /** Tells the server that this is still being worked on. */
  working(): void {
    if (!this.settled) this.say(this.reply, WORKING);
  }

  /** Done: never delivered again. */
  ack(): Promise<void> {
    return this.settle(ACK);
  }

  /** Given back: delivered again, to whoever asks, after `delayMs`. */
  giveBack(delayMs: number): Promise<void> {
    return this.settle(delayMs > 0 ? `-NAK {"delay":${Math.round(delayMs * 1_000_000)}}` : '-NAK');
  }

  /** Taken off the queue without success; its dead letter is stored already. */
  terminate(reason: string): Promise<void> {
    return this.settle(`+TERM ${reason.slice(0, REASON_LENGTH).replaceAll(/\s+/g, ' ')}`);
  }

  private get reply(): string {
    return this.delivery.message.reply ?? '';
  }

  private settle(payload: string): Promise<void> {
    this.settled ??= this.send(payload);
    return this.settled;
  }

  private async send(payload: string): Promise<void> {
    for (let i = 0; i < SETTLE_TRIES; i++) {
      try {
        await this.exchange.request(this.reply, payload, SETTLE_TRY_MS);
        return;
      } catch {
        // No answer: the consumer or the connection is gone. In the end the message comes again after the ack wait.
      }
    }
  }
}

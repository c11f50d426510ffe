import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import { createInbox } from '@nats-io/transport-node';

/** Where a delivered message stands; the server writes it into the message's reply subject. */
export interface Delivery {
  message: Msg;
  attempt: number;
  sequence: number;
  /** 1, 2, 3 … within a consumer's life: a hole means that something was lost. */
  deliverySequence: number;
  storedAt: number;
}

/** Reads `$JS.ACK.[<domain>.<account>.]<stream>.<consumer>.<attempt>.<sequence>.<delivery>.<time>.<pending>[.<token>]`. */
export function parseDelivery(message: Msg): Delivery | undefined {
  const tokens = (message.reply ?? '').split('.');
  if (tokens[0] !== '$JS' || tokens[1] !== 'ACK' || tokens.length < 9) return undefined;
  const at = tokens.length === 9 ? 4 : 6;
  return {
    message,
    attempt: Number(tokens[at]),
    sequence: Number(tokens[at + 1]),
    deliverySequence: Number(tokens[at + 2]),
    storedAt: Math.floor(Number(tokens[at + 3]) / 1_000_000),
  };
}

export interface PullHandlers {
  deliver(delivery: Delivery): void;
  /** A pull ran out of time, or out of what lay there, with messages still to come: ask again. */
  expired(): void;
  /** The pulls under way came to nothing; whoever reads makes sure that the consumer exists and pulls again. */
  trouble(reason: string): void;
}

const HEARTBEAT_MS = 5_000;
const EXPIRES_MS = 30_000;
/** Two heartbeats and a bit: the server or the consumer is gone without a word. */
const SILENCE_MS = 12_000;
const nanos = (ms: number) => ms * 1_000_000;

/**
 * Pulls from one consumer over one subscription. Knows how many messages are asked for and still to come, and notices
 * when the server falls silent: a pull that died with a connection or a consumer is never reported by itself.
 */
export class Pull {
  private readonly inbox = createInbox();
  private readonly subscription: Subscription;
  private readonly watch = setInterval(() => this.checkSilence(), HEARTBEAT_MS / 2);
  private heard = performance.now();
  private troubled = false;
  private asked = 0;

  constructor(
    private readonly connection: NatsConnection,
    private readonly stream: string,
    private readonly consumer: string,
    private readonly handlers: PullHandlers,
  ) {
    this.subscription = connection.subscribe(this.inbox, {
      callback: (error, message) => (error ? this.fail(error.message) : this.receive(message)),
    });
  }

  /** Messages that were asked for and have not come yet. */
  get outstanding(): number {
    return this.asked;
  }

  /** Milliseconds since the server was last heard; 0 while nothing is asked of it and nothing is wrong. */
  get silentForMs(): number {
    return this.asked === 0 && !this.troubled ? 0 : performance.now() - this.heard;
  }

  /** Asks for the next messages, which come as they are stored. */
  request(messages: number): void {
    this.ask({ batch: messages, expires: nanos(EXPIRES_MS), idle_heartbeat: nanos(HEARTBEAT_MS) });
  }

  /** Asks for what lies there by now, together and at most so many. */
  fetch(messages: number): void {
    this.ask({ batch: messages, no_wait: true });
  }

  private ask(pull: { batch: number } & Record<string, unknown>): void {
    if (this.asked === 0) this.heard = performance.now();
    this.asked += pull.batch;
    const subject = `$JS.API.CONSUMER.MSG.NEXT.${this.stream}.${this.consumer}`;
    try {
      this.connection.publish(subject, JSON.stringify(pull), { reply: this.inbox });
    } catch (error) {
      // A connection that is being closed says so here first.
      this.fail((error as Error).message);
    }
  }

  /** Forgets the pulls under way. What they still bring is delivered. */
  reset(): void {
    this.asked = 0;
    this.troubled = false;
  }

  /** Ends the subscription; what the server had already sent is still delivered before this resolves. */
  async drain(): Promise<void> {
    clearInterval(this.watch);
    if (!this.connection.isClosed()) await this.subscription.drain().catch(() => undefined);
  }

  close(): void {
    clearInterval(this.watch);
    this.subscription.unsubscribe();
  }

  private receive(message: Msg): void {
    this.heard = performance.now();
    const delivery = parseDelivery(message);
    if (!delivery) return this.status(message);
    if (this.asked > 0) this.asked--;
    this.handlers.deliver(delivery);
  }

  private status(message: Msg): void {
    const code = message.headers?.code;
    if (code === 100) return;
    if (code === 404) {
      this.asked = 0;
      return this.handlers.expired();
    }
    const left = Number(message.headers?.get('Nats-Pending-Messages') || 0);
    if (code === 408 && left > 0) {
      this.asked = Math.max(0, this.asked - left);
      return this.handlers.expired();
    }
    this.fail(`${code ?? 0} ${message.headers?.description ?? ''}`.trim());
  }

  private checkSilence(): void {
    if (this.asked > 0 && this.silentForMs > SILENCE_MS) this.fail('silent');
  }

  private fail(reason: string): void {
    this.asked = 0;
    this.troubled = true;
    this.handlers.trouble(reason);
  }
}

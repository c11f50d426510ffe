import type { Msg, MsgHdrs, NatsConnection, Subscription } from '@nats-io/transport-node';
import { createInbox } from '@nats-io/transport-node';

/** Nobody answered: the outcome of the request is unknown, except for `no_responders` (nothing received it). */
export class NoAnswer extends Error {
  constructor(
    readonly subject: string,
    readonly why: 'timeout' | 'reconnected' | 'no_responders' | 'closed',
  ) {
    super(`No answer on ${subject} (${why})`);
  }
}

interface Pending {
  subject: string;
  deadline: number;
  resolve(answer: Msg): void;
  reject(error: Error): void;
}

const SWEEP_MS = 50;

/**
 * Request/reply over one private inbox. The client library's own request costs about twice as much per call (a timer and
 * an error trace each), which is felt where every step of every run waits for it.
 */
export class Exchange {
  private readonly prefix = `${createInbox()}.`;
  private readonly pending = new Map<string, Pending>();
  private serial = 0;
  private timer: NodeJS.Timeout | undefined;

  private readonly subscription: Subscription;

  constructor(private readonly connection: NatsConnection) {
    this.subscription = connection.subscribe(`${this.prefix}*`, {
      callback: (error, message) => void (error ?? this.settle(message)),
    });
  }

  request(subject: string, payload: Uint8Array | string, timeoutMs: number, headers?: MsgHdrs): Promise<Msg> {
    return new Promise((resolve, reject) => {
      const token = (this.serial++).toString(36);
      this.pending.set(token, { subject, deadline: performance.now() + timeoutMs, resolve, reject });
      this.timer ??= setInterval(() => this.sweep(), SWEEP_MS);
      try {
        this.connection.publish(subject, payload, { reply: this.prefix + token, headers });
      } catch (error) {
        this.pending.delete(token);
        const closing = this.connection.isClosed() || this.connection.isDraining();
        reject(closing ? new NoAnswer(subject, 'closed') : (error as Error));
      }
    });
  }

  /** What was under way when the connection broke is lost or has lost its answer: callers ask again at once. */
  failAll(why: 'reconnected' | 'closed'): void {
    for (const [token, one] of this.pending) {
      this.pending.delete(token);
      one.reject(new NoAnswer(one.subject, why));
    }
    this.sweep();
  }

  close(): void {
    this.failAll('closed');
    this.subscription.unsubscribe();
  }

  private settle(message: Msg): void {
    const token = message.subject.slice(this.prefix.length);
    const one = this.pending.get(token);
    if (!one) return;
    this.pending.delete(token);
    if (message.data.length === 0 && message.headers?.code === 503)
      one.reject(new NoAnswer(one.subject, 'no_responders'));
    else one.resolve(message);
  }

  private sweep(): void {
    const now = performance.now();
    for (const [token, one] of this.pending) {
      if (one.deadline > now) continue;
      this.pending.delete(token);
      one.reject(new NoAnswer(one.subject, 'timeout'));
    }
    if (this.pending.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}

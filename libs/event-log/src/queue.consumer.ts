import { setTimeout as wait } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import type { AttemptParts } from './attempt';
import { attempt } from './attempt';
import { InHand } from './delivery';
import { ensureConsumer } from './durable';
import { withLimit } from './limit';
import type { Delivery } from './pull';
import { Pull } from './pull';
import type { QueueConsumer, QueueConsumerOptions } from './queue';
import type { TailParts } from './reading';
import { pauseMs } from './stream-api';

const DEFAULTS = { maxAttempts: 12, ackWaitMs: 15_000, handlerLimitMs: 300_000, stopLimitMs: 20_000 };
/** Messages whose handler asked for a delay and that are kept in hand meanwhile; more are given back to the server. */
const PARKED_MOST = 256;

export interface QueueParts extends AttemptParts {
  connection: NatsConnection;
  onInterruption: TailParts['onInterruption'];
}

/**
 * Works through a queue. Invariants:
 * 1. A message is asked for only when a place is free for it, so a stopped or lost worker holds next to nothing back.
 * 2. A message ends in exactly one way: acknowledged after its handler resolved, or terminated after its dead letter was
 *    stored and `onDead` resolved. Everything else brings it back.
 * 3. Attempts are deliveries: failures, hung handlers and lost processes count, RetryLater does not (it stays in hand).
 * 4. Whatever happens to pulls, connection or consumer, the loop makes sure that the consumer exists and asks again.
 */
export class QueueWorker implements QueueConsumer {
  private readonly options: QueueConsumerOptions & typeof DEFAULTS;
  private readonly pull: Pull;
  private readonly inHand = new Set<InHand>();
  private readonly ready: InHand[] = [];
  private readonly parked = new Map<InHand, NodeJS.Timeout>();
  private readonly running = new Set<Promise<void>>();
  private readonly beat: NodeJS.Timeout;
  private readonly release: () => void;
  private repairing = false;
  private stopped: Promise<void> | undefined;

  private constructor(
    private readonly parts: QueueParts,
    options: QueueConsumerOptions,
  ) {
    this.options = { ...DEFAULTS, ...options };
    this.pull = new Pull(parts.connection, options.queue, options.durable, {
      deliver: (delivery) => this.take(delivery),
      expired: () => this.fill(),
      trouble: (reason) => void this.repair(reason),
    });
    this.release = parts.onInterruption((why) => void this.repair(why));
    this.beat = setInterval(() => this.keepInHand(), this.options.ackWaitMs / 3);
  }

  /** Creates or joins the durable consumer and starts working. Throws OverlappingConsumer and LogUnavailable. */
  static async start(parts: QueueParts, options: QueueConsumerOptions): Promise<QueueWorker> {
    await ensureConsumer(parts.exchange, { ...DEFAULTS, ...options });
    const worker = new QueueWorker(parts, options);
    worker.fill();
    return worker;
  }

  lastSeenMs(): number {
    return this.pull.silentForMs;
  }

  stop(): Promise<void> {
    this.stopped ??= this.shutDown();
    return this.stopped;
  }

  /** A connection that was closed never opens again: nobody hears it, and a throw of a timer would end the process. */
  private keepInHand(): void {
    if (this.parts.connection.isClosed()) return clearInterval(this.beat);
    this.inHand.forEach((one) => one.working());
  }

  private take(delivery: Delivery): void {
    const one = new InHand(this.parts.exchange, delivery, (reply, payload) =>
      this.parts.connection.publish(reply, payload),
    );
    if (this.stopped) return void one.giveBack(0);
    this.inHand.add(one);
    this.ready.push(one);
    this.fill();
  }

  /** Starts what is ready while places are free, then asks for as many messages as places are left (invariant 1). */
  private fill(): void {
    if (this.stopped) return;
    while (this.running.size < this.options.concurrency) {
      const one = this.ready.shift();
      if (!one) break;
      const work = this.work(one).finally(() => {
        this.running.delete(work);
        this.fill();
      });
      this.running.add(work);
    }
    const free = this.options.concurrency - this.running.size - this.ready.length;
    if (this.repairing || free <= 0 || this.pull.outstanding > this.options.concurrency / 2) return;
    const wanted = free - this.pull.outstanding;
    if (wanted > 0) this.pull.request(wanted);
  }

  private async work(one: InHand): Promise<void> {
    const delayMs = await attempt(this.parts, this.options, one);
    if (delayMs !== undefined && !this.stopped && this.parked.size < PARKED_MOST)
      return this.park(one, delayMs);
    if (delayMs !== undefined) await one.giveBack(this.stopped ? 0 : delayMs);
    this.inHand.delete(one);
  }

  private park(one: InHand, delayMs: number): void {
    const timer = setTimeout(() => {
      this.parked.delete(one);
      this.ready.push(one);
      this.fill();
    }, delayMs);
    this.parked.set(one, timer);
  }

  /** Invariant 4. */
  private async repair(reason: string): Promise<void> {
    if (this.repairing || this.stopped) return;
    this.repairing = true;
    for (let tries = 0; !this.stopped; tries++) {
      try {
        await ensureConsumer(this.parts.exchange, this.options);
        break;
      } catch (error) {
        if (this.parts.connection.isClosed()) return;
        if (tries === 0) this.tell(`${reason}; not yet: ${(error as Error).message}`);
        await wait(pauseMs(tries));
      }
    }
    this.repairing = false;
    this.pull.reset();
    this.tell(reason);
    this.fill();
  }

  private tell(detail: string): void {
    const { queue, durable } = this.options;
    this.parts.notice({ kind: 'consumer_recreated', queue, durable, detail });
  }

  private async shutDown(): Promise<void> {
    await Promise.resolve(); // `stopped` is set before anything below looks at it
    this.release();
    await this.pull.drain();
    for (const [one, timer] of this.parked) {
      clearTimeout(timer);
      this.ready.push(one);
    }
    const back = this.ready.splice(0).map((one) => one.giveBack(0));
    const handlers = Promise.all(this.running).then(() => undefined);
    await withLimit(handlers, this.options.stopLimitMs, 'a handler').catch(() => undefined);
    await Promise.all([...back, ...[...this.inHand].map((one) => one.giveBack(0))]);
    clearInterval(this.beat);
  }
}

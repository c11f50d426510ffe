import { randomUUID } from 'node:crypto';
import type { LogStream } from '@runyard/contracts';
import type { NatsConnection } from '@nats-io/transport-node';
import { MESSAGE_ID } from './commit';
import type { Exchange } from './exchange';
import type { History } from './history';
import type { Delivery } from './pull';
import { Pull } from './pull';
import { ask } from './stream-api';
import { Pacing } from './pacing';
import type { Pace } from './pacing';
import type { Notice, RawCommit, TailOptions } from './types';

/** Messages asked for at a time; a second lot is asked for when half of the first has come. */
const BATCH = 256;
/** The server drops a consumer that its reader did not delete (kill -9) after this time. */
const FORGET_AFTER_MS = 30_000;
const PATIENCE = { tryMs: 2_000, limitMs: 4_000 };
const nanos = (ms: number) => ms * 1_000_000;

export type Interruption = 'reconnected' | 'closed';

export interface TailParts {
  connection: NatsConnection;
  exchange: Exchange;
  history: History;
  /** Calls back when everything under way was lost. Returns an unsubscriber. */
  onInterruption(listener: (why: Interruption) => void): () => void;
  notice(notice: Notice): void;
}

/** One life of an ordered consumer: from its creation to the first irregularity. */
export class Reading {
  private readonly pull: Pull;
  private readonly release: () => void;
  private arrived: RawCommit[] = [];
  /** Commits of the fetch under way that have come. */
  private fetched = 0;
  private expected = 1;
  private wake: () => void = () => undefined;
  private readonly pacing: Pacing | undefined;
  /** Why it ended; undefined while it goes on. */
  ended: string | undefined;

  private constructor(
    private readonly parts: TailParts,
    private readonly stream: LogStream,
    private readonly consumer: string,
    /** Messages that lay there when it started. */
    readonly pending: number,
    pace?: Pace,
  ) {
    this.pacing = pace && new Pacing(pace);
    this.pull = new Pull(parts.connection, stream, consumer, {
      deliver: (delivery) => this.deliver(delivery),
      expired: () => this.wake(),
      trouble: (reason) => this.end(reason),
    });
    this.release = parts.onInterruption((why) => this.end(why));
  }

  /** Creates a consumer that starts at a sequence and acknowledges nothing; it lives in the server's memory only. */
  static async start(
    parts: TailParts,
    stream: LogStream,
    from: number,
    { filter, pace }: Pick<TailOptions, 'filter' | 'pace'> = {},
  ): Promise<Reading> {
    const name = `tail-${randomUUID()}`;
    const config = {
      name,
      deliver_policy: 'by_start_sequence',
      opt_start_seq: from,
      ack_policy: 'none',
      mem_storage: true,
      num_replicas: 1,
      inactive_threshold: nanos(FORGET_AFTER_MS),
      ...(filter && { filter_subject: filter }),
    };
    const subject = `CONSUMER.CREATE.${stream}.${name}${filter ? `.${filter}` : ''}`;
    const body = JSON.stringify({ stream_name: stream, config });
    const info = await ask<{ num_pending: number }>(parts.exchange, subject, body, PATIENCE);
    return new Reading(parts, stream, name, info.num_pending, pace);
  }

  end(reason: string): void {
    this.ended ??= reason;
    this.pacing?.stop();
    this.wake();
  }

  /** What has arrived, waiting for the first; undefined when the reading has ended and everything was taken. */
  next(most = BATCH): Promise<RawCommit[] | undefined> {
    return this.pacing ? this.nextTogether(this.pacing) : this.nextAsItComes(most);
  }

  private async nextAsItComes(most: number): Promise<RawCommit[] | undefined> {
    for (;;) {
      if (this.ended === undefined && this.pull.outstanding < most / 2)
        this.pull.request(Math.min(BATCH, most));
      if (this.arrived.length > 0) return this.arrived.splice(0);
      if (this.ended !== undefined) return undefined;
      await this.woken();
    }
  }

  /**
   * Waits for one commit where nothing came lately, lets others gather, and fetches them together. A fetch that was full is
   * followed by the next one while its commits are worked on.
   */
  private async nextTogether(pacing: Pacing): Promise<RawCommit[] | undefined> {
    while (this.ended === undefined) {
      if (this.pull.outstanding === 0) {
        if (pacing.quiet && this.arrived.length === 0) {
          this.pull.request(1);
          // A connection that is being closed has said so already.
          if (this.ended === undefined) await this.woken();
          continue;
        }
        await pacing.gather();
        if (this.ended === undefined) this.pull.fetch(BATCH);
      }
      while (this.pull.outstanding > 0 && this.ended === undefined) await this.woken();
      pacing.fetched(this.fetched, BATCH);
      this.fetched = 0;
      if (pacing.full && this.ended === undefined) this.pull.fetch(BATCH);
      if (this.arrived.length > 0) return this.arrived.splice(0);
    }
    return this.arrived.length > 0 ? this.arrived.splice(0) : undefined;
  }

  private woken(): Promise<void> {
    return new Promise((resolve) => (this.wake = resolve));
  }

  /** Consumers left behind count against the stream's limit, so the end is awaited; the server forgets lost ones. */
  async close(): Promise<void> {
    this.release();
    this.pacing?.stop();
    this.pull.close();
    if (this.parts.connection.isClosed()) return;
    const patience = { tryMs: 1_000, limitMs: 0 };
    await ask(this.parts.exchange, `CONSUMER.DELETE.${this.stream}.${this.consumer}`, '', patience).catch(
      () => undefined,
    );
  }

  private deliver(delivery: Delivery): void {
    if (this.ended !== undefined) return;
    if (delivery.deliverySequence !== this.expected) return this.end('a message is missing');
    this.expected++;
    this.arrived.push(rawCommit(this.stream, delivery));
    this.fetched++;
    if (!this.pacing || this.pull.outstanding === 0) this.wake();
  }
}

function rawCommit(stream: LogStream, { message, sequence, storedAt }: Delivery): RawCommit {
  const headers: Record<string, string> = {};
  for (const [name, values] of message.headers ?? []) headers[name] = values[0] ?? '';
  return {
    stream,
    subject: message.subject,
    sequence,
    commitId: headers[MESSAGE_ID] ?? '',
    storedAt,
    headers,
    body: message.data,
  };
}

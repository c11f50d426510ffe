import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { LogStream } from '@runyard/contracts';
import type { NatsConnection } from '@nats-io/transport-node';
import { MESSAGE_ID } from './commit';
import type { Exchange } from './exchange';
import type { History } from './history';
import type { Delivery } from './pull';
import { Pull } from './pull';
import { ApiError, CODES, ask, isPassing, pauseMs } from './stream-api';
import type { Notice, RawCommit, StreamState, TailOptions } from './types';
import { CheckpointAhead, LogUnavailable } from './types';

/** Messages asked for at a time; a second lot is asked for when half of the first has come. */
const BATCH = 256;
/** The server drops a consumer that its reader did not delete (kill -9) after this time. */
const FORGET_AFTER_MS = 30_000;
const PATIENCE = { tryMs: 2_000, limitMs: 4_000 };
const nanos = (ms: number) => ms * 1_000_000;

export interface TailParts {
  connection: NatsConnection;
  exchange: Exchange;
  history: History;
  onReconnect(listener: () => void): () => void;
  notice(notice: Notice): void;
}

/** Creates a consumer that starts at a sequence and acknowledges nothing; it lives in memory only. */
async function createReader(parts: TailParts, stream: string, from: number, filter?: string): Promise<{ name: string; pending: number }> {
  const name = `tail-${randomUUID()}`;
  const config = {
    name,
    deliver_policy: 'by_start_sequence',
    opt_start_seq: from,
    ack_policy: 'none',
    max_deliver: 1,
    mem_storage: true,
    num_replicas: 1,
    inactive_threshold: nanos(FORGET_AFTER_MS),
    ...(filter && { filter_subject: filter }),
  };
  const subject = `CONSUMER.CREATE.${stream}.${name}${filter ? `.${filter}` : ''}`;
  const body = JSON.stringify({ stream_name: stream, config, action: 'create' });
  const info = await ask<{ num_pending: number }>(parts.exchange, subject, body, PATIENCE);
  return { name, pending: info.num_pending };
}

/** Consumers that are left behind count against the stream's limit, so their end is awaited; the server forgets lost ones. */
async function deleteReader(parts: TailParts, stream: string, name: string): Promise<void> {
  if (parts.connection.isClosed()) return;
  await ask(parts.exchange, `CONSUMER.DELETE.${stream}.${name}`, '', { tryMs: 1_000, limitMs: 0 }).catch(() => undefined);
}

/** One life of an ordered consumer: from its creation to the first irregularity. */
class Reading {
  private readonly pull: Pull;
  private readonly release: () => void;
  private arrived: RawCommit[] = [];
  private expected = 1;
  private wake: () => void = () => undefined;
  ended: string | undefined;

  constructor(
    private readonly parts: TailParts,
    private readonly stream: LogStream,
    private readonly consumer: string,
  ) {
    this.pull = new Pull(parts.connection, stream, consumer, {
      deliver: (delivery) => this.deliver(delivery),
      expired: () => this.wake(),
      trouble: (reason) => this.end(reason),
    });
    this.release = parts.onReconnect(() => this.end('reconnected'));
  }

  end(reason: string): void {
    this.ended ??= reason;
    this.wake();
  }

  /** What has arrived, waiting for the first; undefined when the reading has ended and everything was taken. */
  async next(): Promise<RawCommit[] | undefined> {
    for (;;) {
      if (this.ended === undefined && this.pull.outstanding < BATCH / 2) this.pull.request(BATCH);
      if (this.arrived.length > 0) return this.arrived.splice(0);
      if (this.ended !== undefined) return undefined;
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  async close(): Promise<void> {
    this.release();
    this.pull.close();
    await deleteReader(this.parts, this.stream, this.consumer);
  }

  private deliver(delivery: Delivery): void {
    if (this.ended !== undefined) return;
    if (delivery.deliverySequence !== this.expected) return this.end('a message is missing');
    this.expected++;
    this.arrived.push(rawCommit(this.stream, delivery));
    this.wake();
  }
}

function rawCommit(stream: LogStream, { message, sequence, storedAt }: Delivery): RawCommit {
  const headers: Record<string, string> = {};
  for (const [name, values] of message.headers ?? []) headers[name] = values[0] ?? '';
  return { stream, subject: message.subject, sequence, commitId: headers[MESSAGE_ID] ?? '', storedAt, headers, body: message.data };
}

/**
 * Commits of a stream in order and without gaps, for ever. Every irregularity (reconnect, silence, missing delivery,
 * deleted consumer) ends a reading; the next one starts after the last commit that was handed out, and only if the
 * stream is still the same and still reaches that far. Acknowledgements and durable consumers take no part: they lose
 * events after a kill (measured).
 */
export async function* tailBatches(parts: TailParts, stream: LogStream, options: TailOptions): AsyncGenerator<RawCommit[]> {
  const { filter, signal } = options;
  let { after } = options;
  let incarnation: string | undefined;
  for (let failures = 0; !signal.aborted; ) {
    const opened = await open(parts, stream, after, incarnation, filter);
    if (!opened) {
      if (parts.connection.isClosed()) throw new LogUnavailable('The connection is closed');
      await wait(pauseMs(failures++));
      continue;
    }
    failures = 0;
    incarnation = opened.incarnation;
    const { reading } = opened;
    const abort = () => reading.end('aborted');
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    try {
      for (let batch = await reading.next(); batch && !signal.aborted; batch = await reading.next()) {
        after = batch.at(-1)?.sequence ?? after;
        yield batch;
      }
    } finally {
      signal.removeEventListener('abort', abort);
      await reading.close();
    }
    if (!signal.aborted) parts.notice({ kind: 'tail_resumed', stream, after, detail: reading.ended ?? '' });
  }
}

/** Checks the stream and starts a reading; undefined where the server does not answer at the moment. */
async function open(parts: TailParts, stream: LogStream, after: number, incarnation: string | undefined, filter?: string) {
  try {
    const state = await parts.history.state(stream, PATIENCE);
    checkReach(stream, after, incarnation, state);
    const { name } = await createReader(parts, stream, after + 1, filter);
    return { incarnation: state.incarnation, reading: new Reading(parts, stream, name) };
  } catch (error) {
    const gone = error instanceof ApiError && error.code === CODES.streamNotFound;
    if (gone || error instanceof LogUnavailable || isPassing(error)) return undefined;
    throw error;
  }
}

function checkReach(stream: LogStream, after: number, incarnation: string | undefined, state: StreamState): void {
  const replaced = after > 0 && incarnation !== undefined && incarnation !== state.incarnation;
  if (state.lastSequence < after || replaced) throw new CheckpointAhead(stream, after, state);
}

/** Everything of a subject from a sequence on that lies there now, through a consumer of its own. */
export async function readBulk(parts: TailParts, stream: LogStream, subject: string, from: number): Promise<RawCommit[]> {
  const { name, pending } = await createReader(parts, stream, from, subject);
  const reading = new Reading(parts, stream, name);
  const commits: RawCommit[] = [];
  const limit = setTimeout(() => reading.end('too slow'), PATIENCE.limitMs);
  try {
    while (commits.length < pending) {
      const batch = await reading.next();
      if (!batch) break; // the reader goes on one by one from here
      commits.push(...batch);
    }
    return commits;
  } finally {
    clearTimeout(limit);
    await reading.close();
  }
}

import type { NatsConnection } from '@nats-io/transport-node';
import { Exchange } from './exchange';
import { INCARNATION } from './history';
import { ApiError, CODES, ask } from './stream-api';

const PATIENCE = { tryMs: 5_000, limitMs: 30_000 };

/** A consumer of a stream as the server reports it. */
export interface ConsumerReport {
  name: string;
  durable: boolean;
  /** Messages that it has not been given yet. */
  pending: number;
  /** Given and not acknowledged. */
  unacknowledged: number;
  redelivered: number;
}

/** A stream as the server reports it. */
export interface StreamReport {
  name: string;
  messages: number;
  bytes: number;
  firstSequence: number;
  lastSequence: number;
  /** Sequences between the first and the last that hold nothing any more. */
  deleted: number;
  subjects: number;
  consumers: number;
  incarnation: string;
  config: Record<string, unknown>;
}

interface StreamInfo {
  created: string;
  config: Record<string, unknown> & { name: string; metadata?: Record<string, string> };
  state: {
    messages: number;
    bytes: number;
    first_seq: number;
    last_seq: number;
    num_deleted?: number;
    num_subjects?: number;
    consumer_count: number;
    subjects?: Record<string, number> | null;
  };
}

interface ConsumerInfo {
  name: string;
  config: { durable_name?: string };
  num_pending: number;
  num_ack_pending: number;
  num_redelivered: number;
}

/** What operators ask of the server about streams. Never part of what a service does. */
export interface StreamOperations {
  /** Undefined: there is no such stream. */
  report(stream: string): Promise<StreamReport | undefined>;
  /** Durable and passing consumers, by name. */
  consumers(stream: string): Promise<ConsumerReport[]>;
  /** How many messages of a subject lie in a stream. */
  count(stream: string, subject: string): Promise<number>;
  /**
   * Overwrites one message on the server's disk and takes it away; false where there is none. A purge would leave its text
   * in the files (P9.2).
   */
  erase(stream: string, sequence: number): Promise<boolean>;
  close(): void;
}

export function streamOperations(connection: NatsConnection): StreamOperations {
  return new AskedOperations(new Exchange(connection));
}

class AskedOperations implements StreamOperations {
  constructor(private readonly exchange: Exchange) {}

  async report(stream: string): Promise<StreamReport | undefined> {
    try {
      return reportOf(await ask<StreamInfo>(this.exchange, `STREAM.INFO.${stream}`, '', PATIENCE));
    } catch (error) {
      if (error instanceof ApiError && error.code === CODES.streamNotFound) return undefined;
      throw error;
    }
  }

  async consumers(stream: string): Promise<ConsumerReport[]> {
    const found: ConsumerReport[] = [];
    for (;;) {
      const page = await ask<{ consumers: ConsumerInfo[] | null; total: number }>(
        this.exchange,
        `CONSUMER.LIST.${stream}`,
        JSON.stringify({ offset: found.length }),
        PATIENCE,
      );
      const consumers = page.consumers ?? [];
      found.push(...consumers.map(consumerOf));
      if (consumers.length === 0 || found.length >= page.total) break;
    }
    return found.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async count(stream: string, subject: string): Promise<number> {
    const query = JSON.stringify({ subjects_filter: subject });
    const { state } = await ask<StreamInfo>(this.exchange, `STREAM.INFO.${stream}`, query, PATIENCE);
    return Object.values(state.subjects ?? {}).reduce((sum, messages) => sum + messages, 0);
  }

  async erase(stream: string, sequence: number): Promise<boolean> {
    const body = JSON.stringify({ seq: sequence, no_erase: false });
    try {
      await ask(this.exchange, `STREAM.MSG.DELETE.${stream}`, body, PATIENCE);
      return true;
    } catch (error) {
      if (error instanceof ApiError && NOTHING_THERE.has(error.code)) return false;
      throw error;
    }
  }

  close(): void {
    this.exchange.close();
  }
}

/** What servers answer to the deletion of a message that is not (or no longer) there. */
const NOTHING_THERE: ReadonlySet<number> = new Set([CODES.noMessageFound, 10043, 10057]);

const reportOf = ({ created, config, state }: StreamInfo): StreamReport => ({
  name: config.name,
  messages: state.messages,
  bytes: state.bytes,
  firstSequence: state.first_seq,
  lastSequence: state.last_seq,
  deleted: state.num_deleted ?? 0,
  subjects: state.num_subjects ?? 0,
  consumers: state.consumer_count,
  incarnation: config.metadata?.[INCARNATION] ?? created,
  config,
});

const consumerOf = ({ name, config, ...info }: ConsumerInfo): ConsumerReport => ({
  name,
  durable: config.durable_name !== undefined,
  pending: info.num_pending,
  unacknowledged: info.num_ack_pending,
  redelivered: info.num_redelivered,
});

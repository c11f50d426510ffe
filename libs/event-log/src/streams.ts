import { randomUUID } from 'node:crypto';
import type { NatsConnection } from '@nats-io/transport-node';
import { Exchange } from './exchange';
import { INCARNATION } from './history';
import { UnreliableServer, checkServer } from './server';
import { ApiError, CODES, ask } from './stream-api';

/** A stream as data, in JetStream's own words (sizes in bytes, times in nanoseconds, -1 = no limit). */
export interface StreamDefinition {
  name: string;
  description: string;
  subjects: readonly string[];
  retention: 'limits' | 'workqueue';
  storage: 'file' | 'memory';
  discard: 'new' | 'old';
  num_replicas: number;
  max_consumers: number;
  max_msg_size: number;
  max_bytes: number;
  max_msgs: number;
  max_msgs_per_subject: number;
  max_age: number;
  duplicate_window: number;
  allow_direct: boolean;
  deny_delete: boolean;
  deny_purge: boolean;
}

interface StreamInfo {
  config: Record<string, unknown> & { metadata?: Record<string, string> };
}

const PATIENCE = { tryMs: 5_000, limitMs: 30_000 };

/** Differences between what was asked for and what the server keeps: an old server drops what it does not know. */
export function differences(definition: StreamDefinition, kept: Record<string, unknown>): string[] {
  return Object.entries(definition)
    .filter(([key]) => key !== 'description')
    .filter(([key, wanted]) => JSON.stringify(kept[key] ?? absent(wanted)) !== JSON.stringify(wanted))
    .map(([key, wanted]) => `${key} is ${JSON.stringify(kept[key])} instead of ${JSON.stringify(wanted)}`);
}

/** Servers leave out of their answers what has its zero value. */
const absent = (wanted: unknown) =>
  typeof wanted === 'boolean' ? false : typeof wanted === 'number' ? 0 : undefined;

async function withExchange<T>(
  connection: NatsConnection,
  work: (exchange: Exchange) => Promise<T>,
): Promise<T> {
  checkServer(connection.info);
  const exchange = new Exchange(connection);
  try {
    return await work(exchange);
  } finally {
    exchange.close();
  }
}

async function streamInfo(exchange: Exchange, name: string): Promise<StreamInfo | undefined> {
  try {
    return await ask<StreamInfo>(exchange, `STREAM.INFO.${name}`, '', PATIENCE);
  } catch (error) {
    if (error instanceof ApiError && error.code === CODES.streamNotFound) return undefined;
    throw error;
  }
}

async function apply(
  exchange: Exchange,
  definition: StreamDefinition,
): Promise<'created' | 'updated' | 'unchanged'> {
  const before = await streamInfo(exchange, definition.name);
  const metadata = { ...before?.config.metadata };
  metadata[INCARNATION] ??= randomUUID();
  const same =
    before && differences(definition, before.config).length === 0 && before.config.metadata?.[INCARNATION];
  if (same) return 'unchanged';
  const body = JSON.stringify({ ...before?.config, ...definition, metadata });
  const after = await ask<StreamInfo>(
    exchange,
    `STREAM.${before ? 'UPDATE' : 'CREATE'}.${definition.name}`,
    body,
    PATIENCE,
  );
  refuseDifferences(definition, after);
  return before ? 'updated' : 'created';
}

function refuseDifferences(definition: StreamDefinition, info: StreamInfo): void {
  const found = differences(definition, info.config);
  if (found.length) throw new UnreliableServer(`Stream ${definition.name} is not what was asked for`, found);
}

/**
 * Creates or updates the streams; a step of its own, never the job of whichever service boots first. Throws
 * UnreliableServer where the server is too old, keeps another configuration than asked for, or refuses the change.
 */
export function applyStreams(
  connection: NatsConnection,
  definitions: readonly StreamDefinition[],
): Promise<Record<string, 'created' | 'updated' | 'unchanged'>> {
  return withExchange(connection, async (exchange) => {
    const results: Record<string, 'created' | 'updated' | 'unchanged'> = {};
    for (const definition of definitions) {
      try {
        results[definition.name] = await apply(exchange, definition);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        throw new UnreliableServer(`The server refused stream ${definition.name}`, [error.description]);
      }
    }
    return results;
  });
}

/** Throws UnreliableServer unless every stream is there as defined. */
export function verifyStreams(
  connection: NatsConnection,
  definitions: readonly StreamDefinition[],
): Promise<void> {
  return withExchange(connection, async (exchange) => {
    for (const definition of definitions) {
      const info = await streamInfo(exchange, definition.name);
      if (!info)
        throw new UnreliableServer(
          `Stream ${definition.name} is missing; apply the stream definitions first`,
        );
      refuseDifferences(definition, info);
    }
  });
}

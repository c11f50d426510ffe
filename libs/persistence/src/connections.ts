import { setTimeout as pause } from 'node:timers/promises';
import { Client, Pool } from 'pg';
import type { ClientBase, ClientConfig, PoolClient } from 'pg';
import { columnTypes } from './integers';

export interface ConnectionOptions {
  url: string;
  applicationName: string;
  /** Where unqualified names are looked up. Default: what the role is set to (ensureRoles). */
  searchPath?: string;
  /** Milliseconds; 0: no limit. */
  statementTimeoutMs: number;
}

export interface PoolOptions extends ConnectionOptions {
  size: number;
  /** Longest wait for a free connection, milliseconds. */
  waitMs: number;
  /** Hears of connections that were lost while nobody used them. */
  onLost?: (error: Error) => void;
}

/** Slower than the server's own limit, which tells more; this one is for a server that does not answer at all. */
const ANSWER_GRACE_MS = 5_000;
/** A transaction that waits longer for a row than this is refused instead of piling up behind it. */
const LOCK_TIMEOUT_MS = 5_000;
/** A transaction that its process forgot holds locks; the server ends it after this. */
const FORGOTTEN_MS = 60_000;

function settings(
  { url, applicationName, searchPath, statementTimeoutMs }: ConnectionOptions,
  more: readonly string[] = [],
): ClientConfig {
  const session = [...(searchPath ? [`search_path=${searchPath}`] : []), ...more];
  return {
    connectionString: url,
    application_name: applicationName.slice(0, 63),
    types: columnTypes,
    // A statement does not wait for the answer to the one before unless its sender does: a round trip costs more than most.
    pipeline: true,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    ...(session.length > 0 && { options: session.map((setting) => `-c ${setting}`).join(' ') }),
    ...(statementTimeoutMs
      ? {
          statement_timeout: statementTimeoutMs,
          query_timeout: statementTimeoutMs + ANSWER_GRACE_MS,
          lock_timeout: Math.min(LOCK_TIMEOUT_MS, statementTimeoutMs),
          idle_in_transaction_session_timeout: FORGOTTEN_MS,
        }
      : {}),
  };
}

/** Longest wait for the server to hang up on connections that were closed, milliseconds. */
const HANG_UP_MS = 2_000;

export interface OpenPool {
  pool: Pool;
  /** Ends when every connection is closed at both ends: a server that is stopped next cuts none off. */
  close(): Promise<void>;
}

/**
 * A pool that survives what happens to its connections (case C70) and lets nobody wait for ever (case C71). Its connections
 * write inside READ WRITE transactions only: a statement that lost its BEGIN must not take effect by itself.
 */
export function openPool(options: PoolOptions): OpenPool {
  const pool = new Pool({
    ...settings(options, ['default_transaction_read_only=on']),
    max: options.size,
    connectionTimeoutMillis: options.waitMs,
    idleTimeoutMillis: 30_000,
  });
  let closing = false;
  const lost = (error: Error): void => void (closing || options.onLost?.(error));
  const ends = new Map<PoolClient, Promise<void>>();
  pool.on('error', lost);
  // The pool listens to idle clients only: one that breaks while checked out and between queries would end the process.
  // Once per client, at its birth, so that listeners do not grow with its uses.
  pool.on('connect', (client: PoolClient) => {
    client.on('error', lost);
    const ended = new Promise<void>((resolve) => void client.once('end', resolve));
    ends.set(client, ended);
    void ended.then(() => ends.delete(client));
  });
  const close = async (): Promise<void> => {
    closing = true;
    await pool.end();
    // The pool itself only says goodbye and does not wait for it to arrive.
    await Promise.race([Promise.all(ends.values()), pause(HANG_UP_MS, undefined, { ref: false })]);
  };
  return { pool, close };
}

/** A connection outside of every pool; the caller ends it. */
export async function openClient(options: ConnectionOptions & { waitMs: number }): Promise<Client> {
  const client = new Client({ ...settings(options), connectionTimeoutMillis: options.waitMs });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** The rows of the last statement of a query. */
export async function rowsOf<Row>(
  client: ClientBase,
  sql: string,
  params?: readonly unknown[],
  /** Under which the connection keeps the statement. */
  name?: string,
): Promise<Row[]> {
  const result = await client.query({ text: sql, values: params as unknown[] | undefined, name });
  const last: unknown = Array.isArray(result) ? result.at(-1) : result;
  return (last as { rows: Row[] }).rows;
}

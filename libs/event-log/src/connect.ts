import type { NatsConnection, NodeConnectionOptions } from '@nats-io/transport-node';
import { connect } from '@nats-io/transport-node';
import { Appender } from './append';
import { readBulk } from './bulk';
import { decodeCommit } from './commit';
import { Exchange } from './exchange';
import { History, streamOf } from './history';
import { withLimit } from './limit';
import { MAX_QUEUE_BYTES, publishItem, tooLarge } from './publish';
import { QueueWorker } from './queue.consumer';
import { checkServer, withoutLogin } from './server';
import type { Patience } from './stream-api';
import type { Interruption, TailParts } from './reading';
import { JointTails } from './joint-tails';
import type { WorkQueues } from './queue';
import type { EventLog, Notice } from './types';

export interface ConnectOptions {
  /** `nats://[user:password@]host:port`, one or several of a cluster. */
  servers: string | string[];
  /** Shown in the server's list of connections. */
  name: string;
  user?: string;
  pass?: string;
  token?: string;
  tls?: NodeConnectionOptions['tls'];
  /** Milliseconds for one try of an append or a read. Default 3,000. */
  tryMs?: number;
  /** Milliseconds after which an append or a read throws LogUnavailable. Default 10,000. */
  limitMs?: number;
  /** Hears what operators should know. */
  onNotice?: (notice: Notice) => void;
  /** Readings that it has in common with other connections of this process to the same server. Default: its own. */
  tails?: JointTails;
  /** The clock, epoch ms. Default Date.now. */
  now?: () => number;
}

export interface EventLogConnection {
  log: EventLog;
  queues: WorkQueues;
  connection: NatsConnection;
  /** Stops the queue consumers, sends what is still to be sent and closes. */
  close(): Promise<void>;
}

/**
 * Connects to the log and the work queues. Waits for a server that is not up yet, reconnects for ever, and refuses a
 * server that cannot be relied on (UnreliableServer).
 */
export async function connectEventLog(options: ConnectOptions): Promise<EventLogConnection> {
  const connection = await connect(connectionOptions(options));
  try {
    checkServer(connection.info);
    return assemble(connection, options);
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Quick and patient: a lost host is noticed within 10 s, a restarted server is found again within about 0.3 s (P3.4). */
function connectionOptions(options: ConnectOptions): NodeConnectionOptions {
  const { name, token, tls } = options;
  const { servers, user = options.user, pass = options.pass } = withoutLogin(options.servers);
  return {
    servers,
    name,
    ...(user !== undefined && { user, pass }),
    ...(token !== undefined && { token }),
    ...(tls && { tls }),
    timeout: 2_000,
    waitOnFirstConnect: true,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
    reconnectJitter: 200,
    pingInterval: 5_000,
    maxPingOut: 2,
    noAsyncTraces: true,
  };
}

/** A connection without its server never finishes sending. */
const DRAIN_MS = 3_000;

type Interruptions = Pick<TailParts, 'onInterruption'>;

/** One reader of the connection's status for all parts: what was under way fails at once, then everybody starts again. */
function watchConnection(
  connection: NatsConnection,
  exchange: Exchange,
  notice: (notice: Notice) => void,
): Interruptions {
  const listeners = new Set<(why: Interruption) => void>();
  const interrupted = (why: Interruption) => {
    exchange.failAll(why);
    listeners.forEach((listener) => listener(why));
  };
  void connection.closed().then(() => interrupted('closed'));
  void (async () => {
    for await (const status of connection.status()) {
      if (status.type === 'disconnect') notice({ kind: 'disconnected', detail: status.server });
      if (status.type === 'slowConsumer') notice({ kind: 'slow_consumer', detail: status.sub.getSubject() });
      if (status.type !== 'reconnect') continue;
      notice({ kind: 'reconnected', detail: status.server });
      interrupted('reconnected');
    }
  })();
  return {
    onInterruption(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

function assemble(connection: NatsConnection, options: ConnectOptions): EventLogConnection {
  const patience = { tryMs: options.tryMs ?? 3_000, limitMs: options.limitMs ?? 10_000 };
  const now = options.now ?? Date.now;
  const notice = options.onNotice ?? (() => undefined);
  const exchange = new Exchange(connection);
  const interruptions = watchConnection(connection, exchange, notice);
  const history = new History(exchange, patience, (stream, subject, from) =>
    readBulk(parts, stream, subject, from),
  );
  const parts: TailParts = { connection, exchange, history, notice, ...interruptions };
  const workers = new Set<QueueWorker>();
  return {
    connection,
    log: eventLog(parts, new Appender(exchange, history, patience, now), options.tails ?? new JointTails()),
    queues: workQueues({ ...parts, now }, workers, patience),
    async close() {
      await Promise.all([...workers].map((worker) => worker.stop()));
      if (connection.isClosed()) return;
      await withLimit(connection.drain(), DRAIN_MS, 'the connection').catch(() => connection.close());
    },
  };
}

function eventLog(parts: TailParts, appender: Appender, tails: JointTails): EventLog {
  const { history } = parts;
  const tailBatches = tails.over(parts);
  return {
    append: (commit) => appender.append(commit),
    read: async (subject, after = 0) => (await history.read(subject, after)).map(decodeCommit),
    async last(subject) {
      const raw = await history.last(subject);
      return raw && decodeCommit(raw);
    },
    lastSequence: async (subject) => (await history.last(subject))?.sequence ?? 0,
    state: (stream) => history.state(stream),
    tailBatches,
    async *tail(stream, tail) {
      for await (const batch of tailBatches(stream, tail)) yield* batch;
    },
    onAppend: (pattern, wake) => onAppend(parts, pattern, wake),
  };
}

const PATTERN = /^runyard(\.([A-Za-z0-9_-]{1,80}|\*)){1,4}(\.>)?$/;

function onAppend(parts: TailParts, pattern: string, wake: (subject: string) => void): () => void {
  if (!PATTERN.test(pattern)) throw new TypeError(`"${pattern}" is not a pattern of the log's subjects`);
  const exact = !pattern.includes('*') && !pattern.endsWith('>');
  if (exact) streamOf(pattern);
  const subscription = parts.connection.subscribe(pattern, {
    callback: (error, message) => void (error ?? wake(message.subject)),
  });
  const release = exact
    ? parts.onInterruption((why) => void (why === 'reconnected' && wake(pattern)))
    : () => undefined;
  return () => {
    release();
    subscription.unsubscribe();
  };
}

function workQueues(
  parts: TailParts & { now(): number },
  workers: Set<QueueWorker>,
  patience: Patience,
): WorkQueues {
  return {
    async publish(subject, body, headers = {}) {
      const bytes = Buffer.from(JSON.stringify(body));
      if (bytes.byteLength > MAX_QUEUE_BYTES) throw tooLarge(bytes.byteLength);
      return publishItem(parts.exchange, { subject, body: bytes, headers }, patience);
    },
    async consume(options) {
      const worker = await QueueWorker.start(parts, options);
      workers.add(worker);
      return {
        lastSeenMs: () => worker.lastSeenMs(),
        stop: () => worker.stop().finally(() => workers.delete(worker)),
      };
    },
  };
}

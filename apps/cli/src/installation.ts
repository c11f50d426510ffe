import { connectEventLog } from '@runyard/event-log';
import type { EventLogConnection } from '@runyard/event-log';
import { readConnection, required } from './config';
import type { Connection } from './config';
import { OwnerDatabase } from './owner-database.adapter';
import { CommandFailed } from './terminal';

/** How long a server may take to answer the first connection; the log itself would wait for ever. */
const CONNECT_WITHIN_MS = 10_000;

/** The installation that a command works on. What is asked for is connected; `close` leaves everything again. */
export class Installation {
  private database: OwnerDatabase | undefined;
  private connected: EventLogConnection | undefined;

  private constructor(readonly connection: Connection) {}

  /** Opens the installation for one command and closes it after it, whatever happens. */
  static async use<T>(
    file: string | undefined,
    work: (installation: Installation) => Promise<T>,
  ): Promise<T> {
    const installation = new Installation(readConnection(file));
    try {
      return await work(installation);
    } finally {
      await installation.connected?.close();
      await installation.database?.close();
    }
  }

  /** The database as its owner sees it. */
  get db(): OwnerDatabase {
    this.database ??= new OwnerDatabase(required(this.connection, 'database_url'));
    return this.database;
  }

  /** The log. Throws CommandFailed where it does not answer. */
  async bus(): Promise<EventLogConnection> {
    this.connected ??= await connectLog(required(this.connection, 'nats_url'));
    return this.connected;
  }
}

/** Connects to the log at a URL; throws CommandFailed where it does not answer. */
export function connectLog(natsUrl: string): Promise<EventLogConnection> {
  const { username, password, host, protocol } = new URL(natsUrl);
  const connecting = connectEventLog({
    servers: `${protocol}//${host}`,
    name: 'runyard cli',
    ...(username && { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
  });
  return within(connecting, 'The log does not answer; is NATS running?');
}

async function within<T>(promise: Promise<T>, otherwise: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new CommandFailed(otherwise)), CONNECT_WITHIN_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

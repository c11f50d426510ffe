import type { PoolClient } from 'pg';
import { escapeLiteral } from 'pg';
import { openClient, openPool, rowsOf } from './connections';
import type { ConnectionOptions, OpenPool } from './connections';
import { translated } from './database.errors';
import { refuseInsideTransaction, transact } from './transaction';
import type { Database, Session, TransactionOptions, Tx } from './types';

export interface DatabaseOptions {
  /** URL of the service's role, which row-level security binds to one org at a time. */
  url: string;
  /** URL of the service's second role, for projectors and sweeps. Without it acrossOrgs is refused. */
  acrossUrl?: string;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** Connections for tenants' work; default 10. */
  poolSize?: number;
  /** Connections for acrossOrgs; default 6. */
  acrossPoolSize?: number;
  /** Longest wait for a connection, after which the call fails as `unavailable`. Default 5,000 ms (case C71). */
  waitMs?: number;
  /** Longest statement of tenants' work; default 15,000 ms. */
  statementTimeoutMs?: number;
  /** Longest statement across orgs; default 60,000 ms. */
  acrossStatementTimeoutMs?: number;
  /** Default: the role's own, set by ensureRoles. */
  searchPath?: string;
  /** Hears of idle connections that were lost. The pool replaces them by itself. */
  onLost?: (error: Error) => void;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** One role's connections. */
class Door {
  private checked = false;

  constructor(
    private readonly open: OpenPool,
    readonly connection: ConnectionOptions & { waitMs: number },
  ) {}

  async run<T>(name: string, begin: string, work: (tx: Tx) => Promise<T>, prepared = false): Promise<T> {
    refuseInsideTransaction(name);
    try {
      const client = await this.open.pool.connect();
      if (!this.checked) await this.check(client);
      return await transact(client, { name, begin, prepared }, work);
    } catch (error) {
      throw translated(error);
    }
  }

  close(): Promise<void> {
    return this.open.close();
  }

  /** A superuser passes by row-level security without a word: refuse to serve tenants with one. */
  private async check(client: PoolClient): Promise<void> {
    try {
      const [role] = await rowsOf<{ name: string; bypasses: boolean }>(
        client,
        'SELECT rolname AS name, rolsuper OR rolbypassrls AS bypasses FROM pg_roles WHERE rolname = current_user',
      );
      if (role?.bypasses)
        throw new Error(
          `Role ${role.name} bypasses row-level security; services use the roles that ensureRoles makes`,
        );
      this.checked = true;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }
}

function openDoor(options: DatabaseOptions, url: string, size: number, statementTimeoutMs: number): Door {
  const { applicationName, searchPath, waitMs = 5_000, onLost } = options;
  const connection = { url, applicationName, searchPath, statementTimeoutMs, waitMs };
  return new Door(openPool({ ...connection, size, onLost }), connection);
}

class PostgresDatabase implements Database {
  private readonly tenants: Door;
  private readonly across: Door | undefined;
  private closed: Promise<void> | undefined;

  constructor(options: DatabaseOptions) {
    this.tenants = openDoor(
      options,
      options.url,
      options.poolSize ?? 10,
      options.statementTimeoutMs ?? 15_000,
    );
    this.across = options.acrossUrl
      ? openDoor(
          options,
          options.acrossUrl,
          options.acrossPoolSize ?? 6,
          options.acrossStatementTimeoutMs ?? 60_000,
        )
      : undefined;
  }

  async inOrg<T>(org: string, work: (tx: Tx) => Promise<T>): Promise<T> {
    if (!UUID.test(org)) throw new TypeError('inOrg takes the id of an org, a UUID');
    // Transaction-local: it is gone with the transaction, whatever becomes of the connection (case C61).
    return this.tenants.run('inOrg', `BEGIN READ WRITE; SET LOCAL runyard.org = '${org}'`, work);
  }

  async acrossOrgs<T>(
    reason: string,
    work: (tx: Tx) => Promise<T>,
    options: TransactionOptions = {},
  ): Promise<T> {
    const door = this.acrossDoor();
    const isolation = options.repeatableRead ? ' ISOLATION LEVEL REPEATABLE READ' : '';
    const commit = options.synchronousCommit === false ? '; SET LOCAL synchronous_commit = off' : '';
    const plans = options.repeated ? '; SET LOCAL enable_seqscan = off' : '';
    const name = escapeLiteral(`${door.connection.applicationName}: ${reason}`.slice(0, 63));
    return door.run(
      `acrossOrgs (${reason})`,
      `BEGIN${isolation} READ WRITE; SET LOCAL application_name = ${name}${commit}${plans}`,
      work,
      options.repeated,
    );
  }

  async dedicated(reason: string): Promise<Session> {
    const { connection } = this.acrossDoor();
    try {
      return await openSession({
        ...connection,
        applicationName: `${connection.applicationName}: ${reason}`,
      });
    } catch (error) {
      throw translated(error);
    }
  }

  /** Closing twice is closing once: a service may be stopped by its host and by a signal. */
  close(): Promise<void> {
    this.closed ??= Promise.all([this.tenants.close(), this.across?.close()]).then(() => undefined);
    return this.closed;
  }

  private acrossDoor(): Door {
    if (!this.across) throw new Error('This database was connected without acrossUrl');
    return this.across;
  }
}

async function openSession(connection: ConnectionOptions & { waitMs: number }): Promise<Session> {
  const client = await openClient(connection);
  const lost = new AbortController();
  client.once('error', () => lost.abort());
  client.once('end', () => lost.abort());
  return {
    lost: lost.signal,
    query: (sql, params) => rowsOf(client, sql, params),
    close: () => client.end().catch(() => undefined),
  };
}

/** Opens a service's two doors. Connects with the first transaction; a database that is down makes calls fail, not this. */
export function connectDatabase(options: DatabaseOptions): Database {
  return new PostgresDatabase(options);
}

import type { Database, Session, Tx } from '@runyard/persistence';
import { Client, Pool } from 'pg';
import type { ClientBase } from 'pg';

const txOf = (client: ClientBase): Tx => ({
  query: async (sql, params) => (await client.query(sql, params ? [...params] : undefined)).rows,
});

/** How the command line shows up in `pg_stat_activity`. */
const APPLICATION = 'runyard cli';

/**
 * The database as its owner sees it: past row-level security, for commands of operators that must see every org. Services
 * never connect like this. int8 comes back as text.
 */
export class OwnerDatabase implements Database {
  private readonly pool: Pool;

  constructor(readonly url: string) {
    this.pool = new Pool({
      connectionString: url,
      max: 4,
      connectionTimeoutMillis: 10_000,
      application_name: APPLICATION,
    });
    this.pool.on('error', () => undefined);
  }

  inOrg<T>(): Promise<T> {
    return Promise.reject(new Error('The owner of the database belongs to no org'));
  }

  /** Reads only: what a projection's source or a report needs. */
  acrossOrgs<T>(_reason: string, work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.transact('BEGIN TRANSACTION READ ONLY', work);
  }

  read<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.transact('BEGIN TRANSACTION READ ONLY', work);
  }

  write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.transact('BEGIN', work);
  }

  /** A statement outside of transactions, as VACUUM wants it. */
  async statement(sql: string): Promise<void> {
    await this.pool.query(sql);
  }

  async dedicated(): Promise<Session> {
    const client = new Client({
      connectionString: this.url,
      connectionTimeoutMillis: 10_000,
      application_name: APPLICATION,
    });
    const lost = new AbortController();
    client.on('error', () => lost.abort());
    await client.connect();
    return { lost: lost.signal, ...txOf(client), close: () => client.end().catch(() => undefined) };
  }

  close(): Promise<void> {
    return this.pool.end();
  }

  private async transact<T>(begin: string, work: (tx: Tx) => Promise<T>): Promise<T> {
    const client = await this.pool.connect();
    let broken = true;
    try {
      await client.query(begin);
      const result = await work(txOf(client));
      await client.query('COMMIT');
      broken = false;
      return result;
    } finally {
      client.release(broken);
    }
  }
}

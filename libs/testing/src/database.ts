import { randomBytes } from 'node:crypto';
import { acrossRoleOf, connectDatabase, roleOf, urlFor } from '@runyard/persistence';
import type { Database, DatabaseOptions, Migration } from '@runyard/persistence';
import { testDatabaseUrl } from './database.config';
import { ensureTemplate, onServer, TEST_PASSWORD } from './database-template';

/** A service whose schema a spec needs. */
export interface TestSchema {
  /** Service name, e.g. `run-executor`. */
  service: string;
  migrations: readonly Migration[];
}

/** A database of a spec's own, migrated, with the roles of its services. Dropped by `drop()` or `await using`. */
export interface TestDatabase {
  readonly name: string;
  /** The superuser's URL: for migrations and for looking past row-level security. */
  readonly ownerUrl: string;
  urlFor(service: string): string;
  acrossUrlFor(service: string): string;
  /** Opens a service's Database as production does; closed by `drop()`. */
  connect(service: string, options?: Partial<DatabaseOptions>): Database;
  drop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const named = (url: string, database: string): string => {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.toString();
};

class ClonedDatabase implements TestDatabase {
  private readonly opened: Database[] = [];

  constructor(
    private readonly server: string,
    readonly name: string,
  ) {}

  get ownerUrl(): string {
    return named(this.server, this.name);
  }

  urlFor(service: string): string {
    return urlFor(this.ownerUrl, roleOf(service), TEST_PASSWORD);
  }

  acrossUrlFor(service: string): string {
    return urlFor(this.ownerUrl, acrossRoleOf(service), TEST_PASSWORD);
  }

  connect(service: string, options: Partial<DatabaseOptions> = {}): Database {
    const database = connectDatabase({
      url: this.urlFor(service),
      acrossUrl: this.acrossUrlFor(service),
      applicationName: `test ${service}`,
      poolSize: 4,
      acrossPoolSize: 4,
      // Connecting to a busy server may take longer than a service would bear.
      waitMs: 30_000,
      ...options,
    });
    this.opened.push(database);
    return database;
  }

  async drop(): Promise<void> {
    await Promise.all(this.opened.splice(0).map((database) => database.close()));
    await onServer(this.server, (client) =>
      client.query(`DROP DATABASE IF EXISTS ${this.name} WITH (FORCE)`),
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.drop();
  }
}

/**
 * Clones a database that was migrated once per Postgres and set of migrations (100 ms instead of seconds). Besides the
 * given schemas it holds the archive. `url`: another server than the jest run's, e.g. one that a spec restarts.
 */
export async function freshDatabase(
  schemas: readonly TestSchema[] = [],
  options: { url?: string } = {},
): Promise<TestDatabase> {
  const server = options.url ?? testDatabaseUrl();
  const template = await ensureTemplate(server, schemas);
  const name = `test_${randomBytes(6).toString('hex')}`;
  await onServer(server, (client) => client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`));
  return new ClonedDatabase(server, name);
}

import { escapeIdentifier, escapeLiteral } from 'pg';
import type { Logger, MigrationInterface, QueryRunner } from 'typeorm';
import { lockKey } from './lock-key';
import { CHECKPOINT_MIGRATIONS } from './migrations/checkpoints';
import type { Tx } from './types';

/** One forward step of a schema. There is no way back: a mistake is mended by the next step. */
export interface Migration {
  /** Unique in its schema, a plain word such as `CreateRuns`. */
  name: string;
  /** When it was written, epoch milliseconds (13 digits); steps run in this order. */
  timestamp: number;
  /** Statements, or a function for steps that must compute. Unqualified names mean the schema that is migrated. */
  up: string | ((tx: Tx) => Promise<void>);
  /** False for what Postgres refuses inside a transaction (CREATE INDEX CONCURRENTLY). Must then be repeatable. */
  transactional?: boolean;
}

export interface MigrationOptions {
  /** URL of the role that owns the schema; never a service's role. */
  url: string;
  schema: string;
  migrations: readonly Migration[];
  /** Roles that may use the schema; their rights on tables are the migrations' matter. */
  roles?: readonly string[];
  /** Longest wait for another instance that migrates; default 10 minutes. */
  waitMs?: number;
  log?: (line: string) => void;
}

/** The database was migrated by a newer build: this one stops instead of working on a schema that it does not know. */
export class SchemaTooNew extends Error {
  constructor(
    readonly schema: string,
    readonly unknown: readonly string[],
  ) {
    super(
      `Schema ${schema} has migrations that this build does not know (${unknown.join(', ')}); start the newer build`,
    );
  }
}

const TABLE = 'migrations';
const RETRY_MS = 100;
const SCHEMA = /^[a-z][a-z0-9_]{0,40}$/;

const fullName = ({ name, timestamp }: Migration): string => `${name}${timestamp}`;

/** TypeORM takes classes, and orders them by the 13 digits at the end of their names. */
function asClass(migration: Migration): new () => MigrationInterface {
  return class implements MigrationInterface {
    readonly name = fullName(migration);
    readonly transaction = migration.transactional ?? true;

    async up(runner: QueryRunner): Promise<void> {
      if (typeof migration.up === 'string') await runner.query(migration.up);
      else
        await migration.up({ query: (sql, params) => runner.query(sql, params ? [...params] : undefined) });
    }

    async down(): Promise<void> {
      throw new Error('Migrations only go forward');
    }
  };
}

/**
 * Waits by asking: a session that waits inside pg_advisory_lock() holds a snapshot, and CREATE INDEX CONCURRENTLY of the
 * instance that migrates would wait for that snapshot for ever.
 */
async function lock(
  runner: QueryRunner,
  schema: string,
  waitMs: number,
  log: (line: string) => void,
): Promise<void> {
  const key = lockKey('migrations', schema);
  for (const until = Date.now() + waitMs; ; await new Promise((resolve) => setTimeout(resolve, RETRY_MS))) {
    const [row] = await runner.query('SELECT pg_try_advisory_lock($1) AS locked', [key]);
    if (row.locked) return;
    if (Date.now() > until) throw new Error(`Another instance has been migrating ${schema} for ${waitMs} ms`);
    log(`waiting for another instance that migrates ${schema}`);
  }
}

/** TypeORM's own logger writes to the console. */
function quietLogger(log: (line: string) => void): Logger {
  const nothing = () => undefined;
  return {
    logQuery: nothing,
    logQueryError: nothing,
    logQuerySlow: nothing,
    logSchemaBuild: nothing,
    logMigration: (message) => log(message),
    log: nothing,
  };
}

async function prepareSchema(runner: QueryRunner, { schema, roles = [] }: MigrationOptions): Promise<void> {
  const name = escapeIdentifier(schema);
  await runner.query(`CREATE SCHEMA IF NOT EXISTS ${name}`);
  for (const role of roles) {
    const [row] = await runner.query(
      `SELECT has_schema_privilege(${escapeLiteral(role)}, ${escapeLiteral(schema)}, 'USAGE') AS may`,
    );
    if (!row.may) await runner.query(`GRANT USAGE ON SCHEMA ${name} TO ${escapeIdentifier(role)}`);
  }
}

async function refuseNewer(runner: QueryRunner, schema: string, known: ReadonlySet<string>): Promise<void> {
  const [table] = await runner.query('SELECT to_regclass($1) IS NOT NULL AS there', [
    `${escapeIdentifier(schema)}.${TABLE}`,
  ]);
  if (!table.there) return;
  const applied: { name: string }[] = await runner.query(
    `SELECT name FROM ${escapeIdentifier(schema)}.${TABLE} ORDER BY timestamp`,
  );
  const unknown = applied.map(({ name }) => name).filter((name) => !known.has(name));
  if (unknown.length) throw new SchemaTooNew(schema, unknown);
}

/**
 * Brings a schema up to date; returns the names of the steps that this call ran. Several instances may call it at once:
 * one runs the steps, the others wait and run none. The lock belongs to the very session that migrates, so a killed
 * migrator leaves neither a lock nor half a step (case C80). Throws SchemaTooNew.
 */
export async function runMigrations(options: MigrationOptions): Promise<string[]> {
  const { url, schema, waitMs = 600_000, log = () => undefined } = options;
  if (!SCHEMA.test(schema))
    throw new TypeError(`"${schema}" is no schema name (lower-case letters, digits, "_")`);
  const migrations = [...CHECKPOINT_MIGRATIONS, ...options.migrations];
  // TypeORM keeps the books of migrations; it is loaded here only, since loading it takes a service's start 200 ms.
  const { DataSource, MigrationExecutor } = await import('typeorm');
  const source = new DataSource({
    type: 'postgres',
    url,
    schema,
    applicationName: `runyard migrations ${schema}`,
    migrations: migrations.map(asClass),
    migrationsTableName: TABLE,
    poolSize: 1,
    logger: quietLogger(log),
    extra: { options: `-c search_path=${schema},public`, connectionTimeoutMillis: 10_000 },
  });
  await source.initialize();
  const runner = source.createQueryRunner();
  try {
    // A killed migrator's session ends within a second, also in the middle of a long statement (not known on Windows).
    await runner.query(`SET client_connection_check_interval = '1s'`).catch(() => undefined);
    await lock(runner, schema, waitMs, log);
    await prepareSchema(runner, options);
    await refuseNewer(runner, schema, new Set(migrations.map(fullName)));
    const executor = new MigrationExecutor(source, runner);
    executor.transaction = 'each';
    return (await executor.executePendingMigrations()).map(({ name }) => name);
  } finally {
    await runner.release();
    await source.destroy();
  }
}

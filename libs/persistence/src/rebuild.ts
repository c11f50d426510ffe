import type { Client } from 'pg';
import { escapeIdentifier } from 'pg';
import { Arrivals } from './arrivals';
import { readCheckpoint } from './checkpoints';
import type { Checkpoint } from './checkpoints';
import { compareTable } from './compare-tables';
import type { TableComparison } from './compare-tables';
import { openClient, rowsOf } from './connections';
import { pause } from './projection-lock';
import { batchesOf } from './whole-source';
import type { CommitSource, ProjectedCommit, Projection, Tx } from './types';

export interface RebuildOptions {
  /** URL of the owner of the tables: row-level security would hide rows from anybody else. */
  ownerUrl: string;
  schema: string;
  /** Compared, and written by this projection alone. */
  tables: readonly string[];
  /** Written by this projection too, but not compared. */
  workTables?: readonly string[];
  /** Written by others and only read here (names to resolve, for instance): the scratch copies hold the live rows. */
  lookupTables?: readonly string[];
  /** Per table, columns that are facts of operation and differ by nature (heartbeats, generated ids). */
  ignoredColumns?: Readonly<Record<string, readonly string[]>>;
  projection: Projection;
  /** Normally `archiveSource(db, stream, filter)`. */
  source: CommitSource;
  signal?: AbortSignal;
  onProgress?: (position: number) => void;
}

export interface Verification {
  /** The live checkpoint at the moment of comparison; the rebuild went exactly as far. */
  position: number;
  tables: TableComparison[];
}

/** The source does not reach as far as the live projection: nothing can be said about the rows beyond. */
export class SourceTooShort extends Error {}

const SCRATCH = 'verify_scratch';
const BATCH = 500;
/** How long the archive may lag behind the projection that is verified. */
const ARCHIVE_LAG_MS = 10_000;
const LOOK_MS = 100;

const inSchema = (schema: string, table: string): string =>
  `${escapeIdentifier(schema)}.${escapeIdentifier(table)}`;

async function sourceReaches(
  source: CommitSource,
  checkpoint: Checkpoint,
  signal: AbortSignal,
): Promise<void> {
  for (const until = Date.now() + ARCHIVE_LAG_MS; ; await pause(LOOK_MS, signal)) {
    signal.throwIfAborted();
    const state = await source.state();
    if (state.incarnation !== checkpoint.incarnation)
      throw new SourceTooShort(
        `The source is of ${state.incarnation}, the live projection of ${checkpoint.incarnation}`,
      );
    if (state.lastSequence >= checkpoint.position) return;
    if (Date.now() > until)
      throw new SourceTooShort(
        `The source ends at ${state.lastSequence}, the live projection is at ${checkpoint.position}`,
      );
  }
}

/** Foreign keys among the tables act on rows (ON DELETE CASCADE), so the scratch tables need them; LIKE leaves them out. */
async function copyForeignKeys(client: Client, schema: string, tables: readonly string[]): Promise<void> {
  await client.query(`SET LOCAL search_path = ${escapeIdentifier(schema)}`);
  const keys = await rowsOf<{ child: string; definition: string }>(
    client,
    `SELECT child.relname AS child, pg_get_constraintdef(c.oid) AS definition
     FROM pg_constraint c JOIN pg_class child ON child.oid = c.conrelid JOIN pg_class parent ON parent.oid = c.confrelid
     JOIN pg_namespace n ON n.oid = child.relnamespace AND n.oid = parent.relnamespace
     WHERE c.contype = 'f' AND n.nspname = $1 AND child.relname = ANY($2) AND parent.relname = ANY($2)`,
    [schema, tables],
  );
  // Only the scratch tables are in reach of the projection: a table that was not declared is an error, never a live one.
  await client.query(`SET LOCAL search_path = ${SCRATCH}, public`);
  for (const { child, definition } of keys)
    await client.query(`ALTER TABLE ${inSchema(SCRATCH, child)} ADD ${definition}`);
}

async function makeScratch(client: Client, schema: string, tables: readonly string[]): Promise<void> {
  await client.query(`CREATE SCHEMA ${SCRATCH}`);
  for (const table of tables)
    await client.query(
      `CREATE TABLE ${inSchema(SCRATCH, table)} (LIKE ${inSchema(schema, table)} INCLUDING ALL)`,
    );
  await copyForeignKeys(client, schema, tables);
}

async function replay(
  client: Client,
  options: RebuildOptions,
  until: number,
  signal: AbortSignal,
): Promise<void> {
  const { projection, source, onProgress } = options;
  const tx: Tx = { query: (sql, params) => rowsOf(client, sql, params) };
  const stop = new AbortController();
  const commits = batchesOf(source, 0, AbortSignal.any([signal, stop.signal]), { until });
  const arrivals = new Arrivals(commits, 2 * BATCH);
  try {
    for (let last = 0; last < until;) {
      const batch: ProjectedCommit[] | undefined = await arrivals.take(BATCH);
      if (!batch) break;
      const commits = batch.filter(({ sequence }) => sequence <= until);
      if (commits.length) await projection.apply(tx, commits);
      last = batch.at(-1)?.sequence ?? last;
      onProgress?.(Math.min(last, until));
    }
    signal.throwIfAborted();
  } finally {
    stop.abort();
    await arrivals.settled();
  }
}

async function rebuildInside(
  client: Client,
  options: RebuildOptions,
  signal: AbortSignal,
): Promise<Verification> {
  const {
    schema,
    tables,
    workTables = [],
    lookupTables = [],
    ignoredColumns = {},
    projection,
    source,
  } = options;
  const tx: Tx = { query: (sql, params) => rowsOf(client, sql, params) };
  const checkpoint = await readCheckpoint(tx, {
    ...projection,
    checkpointSchema: projection.checkpointSchema ?? escapeIdentifier(schema),
  });
  if (!checkpoint) throw new SourceTooShort(`${projection.name}@${projection.version} has never run`);
  await sourceReaches(source, checkpoint, signal);
  await makeScratch(client, schema, [...tables, ...workTables, ...lookupTables]);
  for (const table of lookupTables)
    await client.query(
      `INSERT INTO ${inSchema(SCRATCH, table)} OVERRIDING SYSTEM VALUE SELECT * FROM ${inSchema(schema, table)}`,
    );
  await replay(client, options, checkpoint.position, signal);
  const compared: TableComparison[] = [];
  for (const table of tables)
    compared.push(
      await compareTable(tx, {
        table,
        live: inSchema(schema, table),
        rebuilt: inSchema(SCRATCH, table),
        ignored: ignoredColumns[table] ?? [],
      }),
    );
  return { position: checkpoint.position, tables: compared };
}

/**
 * Rebuilds a projection from a source, exactly up to its live checkpoint, and compares row for row (P8.7). All in one
 * repeatable-read transaction that is rolled back: live rows and checkpoint are of one moment, nobody sees the scratch
 * tables, and a killed verification leaves nothing behind. It holds back VACUUM while it runs. The projection's SQL must
 * find its tables by the search path. Triggers are not copied. Throws SourceTooShort.
 */
export async function rebuildAndCompare(options: RebuildOptions): Promise<Verification> {
  const client = await openClient({
    url: options.ownerUrl,
    applicationName: 'runyard verify',
    statementTimeoutMs: 0,
    waitMs: 10_000,
  });
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    return await rebuildInside(client, options, options.signal ?? new AbortController().signal);
  } finally {
    await client.query('ROLLBACK').catch(() => undefined);
    await client.end();
  }
}

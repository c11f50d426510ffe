import type { Client } from 'pg';
import { escapeIdentifier } from 'pg';
import { applyConcerning } from './concerning';
import { readCheckpoint } from './checkpoints';
import type { Checkpoint } from './checkpoints';
import { compareTable } from './compare-tables';
import type { TableComparison, TableForms } from './compare-tables';
import { openClient, rowsOf } from './connections';
import { pause } from './projection-lock';
import { copyRows, inSchema, makeScratch } from './scratch-tables';
import type { CommitSource, Projection, Tx } from './types';
import { commitsUpTo } from './whole-source';

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
  /** What is compared of tables whose rows depend on how commits were batched. */
  forms?: TableForms;
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
/** How long the archive may lag behind the projection that is verified. */
const ARCHIVE_LAG_MS = 10_000;
const LOOK_MS = 100;

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

async function replay(
  client: Client,
  { projection, source, onProgress }: RebuildOptions,
  until: number,
  signal: AbortSignal,
): Promise<void> {
  const tx: Tx = { query: (sql, params) => rowsOf(client, sql, params) };
  for await (const { commits, last } of commitsUpTo(source, 0, until, signal)) {
    await applyConcerning(projection, tx, commits);
    onProgress?.(last);
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
    forms = {},
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
  await makeScratch(tx, { schema, scratch: SCRATCH, tables: [...tables, ...workTables, ...lookupTables] });
  for (const table of lookupTables) await copyRows(tx, inSchema(schema, table), inSchema(SCRATCH, table));
  await replay(client, options, checkpoint.position, signal);
  const compared: TableComparison[] = [];
  for (const table of tables)
    compared.push(
      await compareTable(tx, {
        table,
        live: inSchema(schema, table),
        rebuilt: inSchema(SCRATCH, table),
        ignored: ignoredColumns[table] ?? [],
        form: forms[table],
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

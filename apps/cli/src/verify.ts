import { PoisonCommit, rebuildAndCompare, SourceTooShort } from '@runyard/persistence';
import type { Session, Verification } from '@runyard/persistence';
import { DamagedCommit } from '../../run-executor/src/projections/commits';
import { RUN_TABLES } from '../../run-executor/src/projections/run-tables';
import { runsProjection } from '../../run-executor/src/projections/runs.projection';
import { openArchive, openStream } from './commit-sources';
import type { OpenSource } from './commit-sources';
import { readConnection, required } from './config';
import { OwnerDatabase } from './owner-database.adapter';
import { CommandFailed, EXIT } from './terminal';
import type { Terminal } from './terminal';
import { differences, isEqual, rowsOf } from './verification-report';

export interface VerifyOptions {
  from: 'stream' | 'archive';
  json?: boolean;
  connection?: string;
  signal?: AbortSignal;
}

/** One verification at a time: two would rebuild the same tables side by side and tell nobody anything new. */
const LOCK = `SELECT pg_try_advisory_lock(hashtextextended('runyard verify', 0)) AS held`;

interface Skipped {
  type: string;
  times: number;
  first_position: string;
}

/**
 * Rebuilds the tables of runs beside the live ones, up to the live checkpoint, and proves them equal row for row (P8.7).
 * Reads the log and writes nothing but scratch tables that are rolled back: nothing is published, no effect happens.
 * Returns the exit code.
 */
export async function verify(options: VerifyOptions, terminal: Terminal): Promise<number> {
  const connection = readConnection(options.connection);
  const ownerUrl = required(connection, 'database_url');
  const db = new OwnerDatabase(ownerUrl);
  const closing: { close(): Promise<void> }[] = [db];
  try {
    closing.push(await lock(db));
    const opened =
      options.from === 'archive' ? openArchive(db) : await openStream(required(connection, 'nats_url'));
    closing.push(opened);
    const skipped = new Map<string, Skipped>();
    const verification = await compare(ownerUrl, opened, skipped, options, terminal);
    return report(verification, [...skipped.values()], options, terminal);
  } finally {
    for (const open of closing.toReversed()) await open.close();
  }
}

async function lock(db: OwnerDatabase): Promise<Session> {
  const session = await db.dedicated();
  const [row] = await session.query<{ held: boolean }>(LOCK);
  if (row?.held) return session;
  await session.close();
  throw new CommandFailed('Another verification is under way; wait for it to end');
}

async function compare(
  ownerUrl: string,
  { source }: OpenSource,
  skipped: Map<string, Skipped>,
  { signal }: VerifyOptions,
  terminal: Terminal,
): Promise<Verification> {
  const projection = runsProjection(({ type, position }) => {
    const seen = skipped.get(type) ?? { type, times: 0, first_position: position };
    skipped.set(type, { ...seen, times: seen.times + 1 });
  });
  try {
    return await rebuildAndCompare({
      ownerUrl,
      schema: RUN_TABLES.schema,
      tables: RUN_TABLES.verified,
      workTables: RUN_TABLES.work,
      lookupTables: RUN_TABLES.lookup,
      projection,
      source,
      signal,
      onProgress: (position) => terminal.progress(`rebuilt up to ${position}`),
    });
  } catch (error) {
    // These name stream, position and type; a stack would only hide it.
    if (error instanceof DamagedCommit || error instanceof SourceTooShort || error instanceof PoisonCommit)
      throw new CommandFailed(error.message);
    throw error;
  } finally {
    terminal.progress('');
  }
}

function report(
  verification: Verification,
  skipped: readonly Skipped[],
  { json }: VerifyOptions,
  terminal: Terminal,
): number {
  const equal = isEqual(verification);
  const runs = rowsOf(verification, 'agent_runs');
  const steps = rowsOf(verification, 'agent_steps');
  const { position, tables } = verification;
  for (const { type, times, first_position } of skipped)
    terminal.say(`skipped ${times} events of the unknown type ${type}, the first at ${first_position}`);
  if (json) terminal.out(JSON.stringify({ equal, runs, steps, position, skipped, tables }));
  const tell = (line: string): void => (json ? terminal.say(line) : terminal.out(line));
  if (!equal) for (const line of differences(verification)) tell(line);
  tell(`verify: ${equal ? 'equal' : 'different'} ${runs} runs ${steps} steps at ${position}`);
  return equal ? EXIT.ok : EXIT.found;
}

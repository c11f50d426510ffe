import { Option } from 'commander';
import { isDamage } from './damage';
import { PoisonCommit, rebuildAndCompare, SourceTooShort } from '@runyard/persistence';
import type { Session, Verification } from '@runyard/persistence';
import { examples } from './command';
import type { Commands } from './command';
import { sourceOf } from './commit-sources';
import type { SourceName } from './commit-sources';
import { Installation } from './installation';
import { hasRun } from './checkpoints';
import { PROJECTIONS, nameOf } from './projections';
import type { InstalledProjection } from './projections';
import { Skipped } from './skipped-events';
import { CommandFailed } from './terminal';
import type { Terminal } from './terminal';
import { report } from './verification-report';
import type { Verified } from './verification-report';

export interface VerifyOptions {
  from: SourceName;
  json?: boolean;
}

export const verifyCommands: Commands = (program, line) => {
  program
    .command('verify')
    .summary('prove that the rows are what the log gives, row for row')
    .description(
      'Rebuilds the tables of projections from the log beside the live ones and proves them equal, row for row.',
    )
    .argument('[projections...]', `which ones (default: all of ${PROJECTIONS.map(nameOf).join(', ')})`)
    .addOption(
      new Option('--from <source>', 'what to rebuild from').choices(['stream', 'archive']).default('stream'),
    )
    .option('--json', 'print the comparison as JSON')
    .addHelpText(
      'before',
      examples(
        ['runyard verify', 'every projection against its stream'],
        ['runyard verify runs', 'the rows of runs alone'],
        ['runyard verify --from archive', 'against the archive in Postgres, which outlives the streams'],
        ['runyard verify --json', 'the comparison of every table as JSON'],
      ),
    )
    .addHelpText(
      'after',
      '\nExit codes: 0 equal, 1 different, 2 could not be verified.\nThe last line says: verify: equal <n> runs <m> steps at <position>',
    )
    .action((names: string[], options: VerifyOptions) =>
      line.run((signal) =>
        Installation.use(line.file(), (installation) =>
          verify(installation, names, options, line.terminal, signal),
        ),
      ),
    );
};

/** One verification at a time: two would rebuild the same tables side by side and tell nobody anything new. */
const LOCK = `SELECT pg_try_advisory_lock(hashtextextended('runyard verify', 0)) AS held`;

/**
 * Rebuilds projections beside their live rows, up to the live checkpoint, and proves them equal row for row (P8.7). Reads
 * the log and writes nothing but scratch tables that are rolled back: nothing is published, no effect happens. Returns
 * the exit code.
 */
async function verify(
  installation: Installation,
  names: readonly string[],
  options: VerifyOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  const lock = await takeLock(installation);
  try {
    const results: Verified[] = [];
    for (const entry of chosen(names)) {
      if (names.length > 0 || (await isThere(installation, entry, terminal)))
        results.push(await compare(installation, entry, options, terminal, signal));
    }
    return report(results, options, terminal);
  } finally {
    await lock.close();
  }
}

function chosen(names: readonly string[]): readonly InstalledProjection[] {
  const unknown = names.find((name) => !PROJECTIONS.some((entry) => nameOf(entry) === name));
  if (unknown !== undefined)
    throw new CommandFailed(
      `There is no projection ${unknown}; there are ${PROJECTIONS.map(nameOf).join(', ')}`,
    );
  return names.length === 0 ? PROJECTIONS : PROJECTIONS.filter((entry) => names.includes(nameOf(entry)));
}

/** A service that is not installed here, or has not come to run its projection, has nothing to prove. */
async function isThere(
  { db }: Installation,
  entry: InstalledProjection,
  terminal: Terminal,
): Promise<boolean> {
  const there = await db.read((tx) => hasRun(tx, entry));
  if (!there) terminal.progress(`${nameOf(entry)} has never run here`);
  return there;
}

async function takeLock({ db }: Installation): Promise<Session> {
  const session = await db.dedicated();
  const [row] = await session.query<{ held: boolean }>(LOCK);
  if (row?.held) return session;
  await session.close();
  throw new CommandFailed('Another verification is under way; wait for it to end');
}

async function compare(
  installation: Installation,
  entry: InstalledProjection,
  { from }: VerifyOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<Verified> {
  const { projection, telling, ...rest } = entry;
  const skipped = new Skipped();
  try {
    const verification: Verification = await rebuildAndCompare({
      ...rest,
      ownerUrl: installation.db.url,
      projection: telling ? telling((event) => skipped.note(event)) : projection,
      source: await sourceOf(installation, from, projection.stream, projection.filter),
      signal,
      onProgress: (position) => terminal.progress(`${projection.name}: rebuilt up to ${position}`),
    });
    return { entry, verification, skipped: skipped.types() };
  } catch (error) {
    // These name stream, position and type; a stack would only hide it.
    if (isDamage(error) || error instanceof SourceTooShort || error instanceof PoisonCommit)
      throw new CommandFailed((error as Error).message);
    throw error;
  } finally {
    terminal.progress('');
  }
}

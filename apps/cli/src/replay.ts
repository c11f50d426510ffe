import { Option } from 'commander';
import { PoisonCommit, ReplayMismatch, SwitchRefused } from '@runyard/persistence';
import type { CommitSource, ReplayTarget } from '@runyard/persistence';
import { checkpointOf } from './checkpoints';
import { examples } from './command';
import type { Commands } from './command';
import { sourceOf } from './commit-sources';
import type { SourceName } from './commit-sources';
import { isDamage } from './damage';
import { Installation } from './installation';
import { sequenceAt } from './places';
import { PROJECTIONS, nameOf } from './projections';
import type { InstalledProjection } from './projections';
import { beside, inPlace } from './replay-run';
import { CommandFailed, EXIT } from './terminal';
import type { Terminal } from './terminal';

export interface ReplayOptions {
  source: SourceName;
  from?: string;
  to?: string;
  inPlace?: boolean;
  keep?: boolean;
  drop?: boolean;
  dryRun?: boolean;
  yes?: boolean;
}

export const replayCommands: Commands = (program, line) => {
  program
    .command('replay <projection>')
    .summary('make the rows of a projection anew from the log')
    .description(
      `Makes the rows of a projection anew from its stream. Beside the live ones (the default) and then switched over in one transaction: readers see the old rows until then, work goes on meanwhile, and a rebuild that was interrupted goes on where it was. Only rows are written: no event, no message, no effect.\n\nProjections: ${PROJECTIONS.map(nameOf).join(', ')}`,
    )
    .addOption(
      new Option('--source <source>', 'where to read').choices(['stream', 'archive']).default('stream'),
    )
    .option('--from <place>', 'begin after this sequence, position or time, not at the beginning')
    .option('--to <place>', 'end at this sequence, position or time; the rows stay beside')
    .option('--in-place', 'onto the live rows; readers see what has come so far')
    .option('--keep', 'beside, without switching over')
    .option('--drop', 'take away what lies beside')
    .option('--dry-run', 'say what would be done')
    .option('--yes', 'do not ask')
    .addHelpText(
      'before',
      examples(
        ['runyard replay runs', 'rebuild beside, then switch over'],
        ['runyard replay runs --dry-run', 'what that would be'],
        ['runyard replay runs --source archive', 'from the copy in Postgres'],
        ['runyard replay runs --to 2026-11-30T09:00Z', 'the rows as of a time, in a schema beside'],
        ['runyard replay runs --drop', 'take them away again'],
        ['runyard replay runs --in-place --from 4711', 'read again from there on, onto the live rows'],
      ),
    )
    .action((name: string, options: ReplayOptions) =>
      line.run((signal) =>
        Installation.use(line.file(), (installation) =>
          replay(installation, entryOf(name), options, line.terminal, signal),
        ),
      ),
    );
};

function entryOf(name: string): InstalledProjection {
  const entry = PROJECTIONS.find((one) => nameOf(one) === name);
  if (entry) return entry;
  throw new CommandFailed(`There is no projection ${name}; there are ${PROJECTIONS.map(nameOf).join(', ')}`);
}

/** What a replay is about to do, with its places looked up. */
export interface Plan {
  target: ReplayTarget;
  source: CommitSource;
  incarnation: string;
  /** Commits after this one … */
  after: number;
  /** … up to this one. */
  until: number;
  live: { position: number; incarnation: string } | undefined;
  options: ReplayOptions;
}

async function replay(
  installation: Installation,
  entry: InstalledProjection,
  options: ReplayOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  const plan = await planOf(installation, entry, options);
  try {
    if (options.dryRun) return await tell(installation, plan, entry, terminal);
    return options.inPlace ? await inPlace(plan, terminal, signal) : await beside(plan, terminal, signal);
  } catch (error) {
    const known = error instanceof ReplayMismatch || error instanceof SwitchRefused;
    if (known || isDamage(error) || error instanceof PoisonCommit)
      throw new CommandFailed((error as Error).message);
    throw error;
  } finally {
    terminal.progress('');
  }
}

async function planOf(
  installation: Installation,
  entry: InstalledProjection,
  options: ReplayOptions,
): Promise<Plan> {
  const { db } = installation;
  const { telling: _telling, ignoredColumns: _ignored, ...rest } = entry;
  const { stream, filter } = entry.projection;
  const source = await sourceOf(installation, options.source, stream, filter);
  const state = await source.state();
  const after =
    options.from === undefined ? 0 : (await sequenceAt(db, stream, options.from)) - startsAt(options.from);
  const to = options.to === undefined ? state.lastSequence : await sequenceAt(db, stream, options.to);
  if (to > state.lastSequence)
    throw new CommandFailed(`${stream} ends at ${state.lastSequence}, before ${to}`);
  if (after < 0 || after > to) throw new CommandFailed(`Nothing lies between ${after} and ${to}`);
  const live = await db.read((tx) => checkpointOf(tx, entry));
  return {
    target: { ...rest, ownerUrl: db.url },
    source,
    incarnation: state.incarnation,
    after,
    until: to,
    live: live && { position: live.position, incarnation: live.incarnation },
    options,
  };
}

/** A sequence that is named is the first one to be read; of a time it is the last one before. */
const startsAt = (place: string): number => (/^\d+(\.\d+)?$/.test(place) ? 1 : 0);

async function tell(
  { db }: Installation,
  { after, until, live, target, options }: Plan,
  entry: InstalledProjection,
  terminal: Terminal,
): Promise<number> {
  const { name, stream } = target.projection;
  terminal.out(
    `${name}: commits after ${after} up to ${until} of ${stream}, read from the ${options.source}`,
  );
  terminal.out(`live: ${live ? `at ${live.position} of incarnation ${live.incarnation}` : 'has never run'}`);
  for (const table of entry.tables) {
    const [row] = await db.read((tx) =>
      tx.query<{ count: string }>(`SELECT count(*) FROM "${entry.schema}"."${table}"`),
    );
    terminal.out(`  ${entry.schema}.${table}: ${row?.count ?? 0} rows`);
  }
  const partial = options.to !== undefined || options.from !== undefined || options.keep;
  const end = partial
    ? 'the rows stay beside, in a schema of their own'
    : 'rows that differ are exchanged in one transaction';
  const onto = options.from === undefined ? 'the tables are emptied first' : 'onto the rows as they are';
  terminal.out(options.inPlace ? `in place: ${onto}` : `beside: ${end}`);
  return EXIT.ok;
}

import { examples } from './command';
import type { Commands } from './command';
import { erasableChoice } from './run-choices';
import { preview } from './erasable-runs';
import { eraseRuns } from './erase-runs';
import { Installation } from './installation';
import { orgsOf } from './orgs';
import { Overwriting } from './overwriting';
import { receiptLines, receiptOf, vacuum } from './receipt';
import type { Receipt } from './receipt';
import { CommandFailed, confirm, EXIT, table } from './terminal';
import type { Terminal } from './terminal';
import { collectBlobs, removeUnnamed } from './unnamed-blobs';

interface SweepOptions {
  before: string;
  org?: string;
  allOrgs?: boolean;
  dryRun?: boolean;
  json?: boolean;
  yes?: boolean;
}

export const retentionCommands: Commands = (program, line) => {
  program
    .command('retention')
    .summary('take away runs that began before a time')
    .description('Retention: nothing is taken away unless you say so.')
    .command('sweep')
    .description(
      'Takes away runs that began before a time: rows, log, archive and large texts together. Unfinished runs are skipped; what was deleted before goes for good. Spent tokens stay counted.',
    )
    .requiredOption('--before <time>', 'runs that began before it (RFC 3339 or a date)')
    .option('--org <id>', 'of this org (default: the org of the connection)')
    .option('--all-orgs', 'of every org')
    .option('--dry-run', 'show what would go')
    .option('--json', 'print the receipts as JSON')
    .option('--yes', 'do not ask')
    .addHelpText(
      'before',
      examples(
        ['runyard retention sweep --before 2026-08-01 --dry-run', 'what would go'],
        ['runyard retention sweep --before 2026-08-01', 'after a look at it'],
        ['runyard retention sweep --before 2026-08-01 --all-orgs --yes', 'from a timer'],
      ),
    )
    .action((options: SweepOptions) =>
      line.run((signal) =>
        Installation.use(line.file(), (installation) => sweep(installation, options, line.terminal, signal)),
      ),
    );
};

async function sweep(
  installation: Installation,
  options: SweepOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  const before = Date.parse(options.before);
  if (Number.isNaN(before)) throw new CommandFailed(`"${options.before}" is no time (RFC 3339) or date`);
  const orgs = await orgsOf(installation, options);
  const wanted = await show(installation, orgs, before, terminal);
  if (options.dryRun) return EXIT.ok;
  const what = `${wanted} runs that began before ${new Date(before).toISOString()} are erased for good.`;
  if (wanted > 0) await confirm(terminal, what, 'sweep', options.yes);
  for (const org of wanted > 0 ? orgs : []) {
    const receipt = await sweepOrg(installation, org, before, terminal, signal);
    if (options.json) terminal.out(JSON.stringify(receipt));
    else for (const text of receiptLines(receipt)) terminal.out(text);
  }
  terminal.say(`${await collectBlobs(installation.db)} texts that nobody names were collected`);
  return EXIT.ok;
}

async function show(
  { db }: Installation,
  orgs: readonly string[],
  before: number,
  terminal: Terminal,
): Promise<number> {
  let wanted = 0;
  const rows: (string | number)[][] = [];
  for (const org of orgs) {
    const { states, unfinished } = await db.read((tx) =>
      preview(tx, org, erasableChoice.beganBefore(before)),
    );
    for (const { state, runs } of states) rows.push([org, state, runs]);
    if (unfinished > 0) rows.push([org, 'unfinished, skipped', unfinished]);
    wanted += states.reduce((sum, { runs }) => sum + runs, 0);
  }
  if (rows.length === 0) terminal.say('No run began before that time');
  else for (const text of table(['org', 'state', 'runs'], rows)) terminal.say(text);
  return wanted;
}

async function sweepOrg(
  installation: Installation,
  org: string,
  before: number,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<Receipt> {
  const overwriting = await Overwriting.open(installation);
  try {
    const choice = erasableChoice.beganBefore(before);
    const tell = (runs: number): void => terminal.progress(`${org}: ${runs} runs`);
    const erased = await eraseRuns(installation, overwriting, org, choice, signal, tell);
    terminal.progress('');
    const texts = await removeUnnamed(installation.db, org, overwriting.texts, overwriting.definitions);
    const tables = erased.length > 0 ? await vacuum(installation) : [];
    const what = `runs that began before ${new Date(before).toISOString()}`;
    return await receiptOf(
      installation,
      { erased: what, org, runs: erased.length, texts, tables },
      overwriting,
    );
  } finally {
    overwriting.close();
  }
}

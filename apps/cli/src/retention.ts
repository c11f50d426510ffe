import { apiOf } from './api';
import { examples } from './command';
import type { CommandLine, Commands } from './command';
import type { Command } from 'commander';
import { erasableChoice } from './run-choices';
import { preview } from './erasable-runs';
import { dropDeadLetters } from './dead-content';
import { dropReplays } from './erase-replays';
import { eraseRuns } from './erase-runs';
import { Installation } from './installation';
import { orgsOf } from './orgs';
import { Overwriting } from './overwriting';
import { receiptLines, receiptOf, vacuum } from './receipt';
import type { Receipt } from './receipt';
import { kept, settingsOf, showSettings, wholeDays } from './retention-settings';
import { CommandFailed, confirm, EXIT, table } from './terminal';
import type { Terminal } from './terminal';
import { collectBlobs, removeUnnamed } from './unnamed-blobs';

interface SweepOptions {
  before?: string;
  org?: string;
  allOrgs?: boolean;
  dryRun?: boolean;
  json?: boolean;
  yes?: boolean;
}

/** What goes of an org: what began before a time, epoch ms. */
interface Reach {
  org: string;
  before: number;
}

export const retentionCommands: Commands = (program, line) => {
  const retention = program
    .command('retention')
    .summary('how long runs are kept, and taking away what is older')
    .description('Retention: nothing is taken away unless an org or you say so.');
  retention
    .command('set <days>')
    .description(
      'Says how many days the org keeps its runs after they began, or "never": for ever. Needs the key of an admin.',
    )
    .action((days: string) =>
      line.run(async () => {
        const retention_days = days === 'never' ? null : wholeDays(days);
        const { org_id } = await apiOf(line.file()).call('PATCH /v1/org', { body: { retention_days } });
        line.terminal.out(`${org_id} ${kept(retention_days)}`);
        return EXIT.ok;
      }),
    );
  retention
    .command('show')
    .description('Shows what every org has said, and how many runs are older than that.')
    .action(() =>
      line.run(() =>
        Installation.use(line.file(), (installation) => showSettings(installation, line.terminal)),
      ),
    );
  sweepCommand(retention, line);
};

function sweepCommand(retention: Command, line: CommandLine): void {
  retention
    .command('sweep')
    .description(
      'Takes away runs that began before a time, or, without --before, that are older than their org keeps them: rows, log, archive and large texts together, and tasks with their runs. Unfinished runs and tasks are skipped; what was deleted before goes for good. Spent tokens stay counted.',
    )
    .option(
      '--before <time>',
      'runs that began before it (RFC 3339 or a date); default: what each org has set',
    )
    .option('--org <id>', 'of this org (default: the org of the connection)')
    .option('--all-orgs', 'of every org')
    .option('--dry-run', 'show what would go')
    .option('--json', 'print the receipts as JSON')
    .option('--yes', 'do not ask')
    .addHelpText(
      'before',
      examples(
        ['runyard retention set 90', 'this org keeps its runs for 90 days'],
        ['runyard retention sweep --all-orgs --yes', 'what orgs keep no longer, from a timer'],
        ['runyard retention sweep --before 2026-08-01 --dry-run', 'what would go'],
        ['runyard retention sweep --before 2026-08-01', 'after a look at it'],
      ),
    )
    .action((options: SweepOptions) =>
      line.run((signal) =>
        Installation.use(line.file(), (installation) => sweep(installation, options, line.terminal, signal)),
      ),
    );
}

async function sweep(
  installation: Installation,
  options: SweepOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  const reaches = await reachesOf(installation, options);
  const wanted = await show(installation, reaches, terminal);
  if (options.dryRun) return EXIT.ok;
  if (wanted > 0) await confirm(terminal, `${wanted} runs are erased for good.`, 'sweep', options.yes);
  for (const { org, before } of wanted > 0 ? reaches : []) {
    const receipt = await sweepOrg(installation, org, before, terminal, signal);
    if (options.json) terminal.out(JSON.stringify(receipt));
    else for (const text of receiptLines(receipt)) terminal.out(text);
  }
  terminal.say(`${await collectBlobs(installation.db)} texts that nobody names were collected`);
  return EXIT.ok;
}

/** By the time that was said, for every org the same; else by what each has set. */
async function reachesOf(installation: Installation, options: SweepOptions): Promise<Reach[]> {
  const orgs = await orgsOf(installation, options);
  if (options.before === undefined) {
    const settings = await settingsOf(installation);
    return settings.flatMap(({ org, before }) =>
      before !== null && orgs.includes(org) ? [{ org, before }] : [],
    );
  }
  const before = Date.parse(options.before);
  if (Number.isNaN(before)) throw new CommandFailed(`"${options.before}" is no time (RFC 3339) or date`);
  return orgs.map((org) => ({ org, before }));
}

async function show({ db }: Installation, reaches: readonly Reach[], terminal: Terminal): Promise<number> {
  let wanted = 0;
  const rows: (string | number)[][] = [];
  for (const { org, before } of reaches) {
    const { states, unfinished } = await db.read((tx) =>
      preview(tx, org, erasableChoice.beganBefore(before)),
    );
    for (const { state, runs } of states) rows.push([org, state, runs]);
    if (unfinished > 0) rows.push([org, 'unfinished, skipped', unfinished]);
    wanted += states.reduce((sum, { runs }) => sum + runs, 0);
  }
  if (rows.length === 0) terminal.say('No run is that old');
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
    if (erased.length > 0) {
      overwriting.done.deadLetters += await dropDeadLetters(installation, org, { runs: erased });
      await dropReplays(installation, overwriting);
    }
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

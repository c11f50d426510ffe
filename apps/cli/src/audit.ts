import { setTimeout as wait } from 'node:timers/promises';
import { modelDisagreements } from './audit-log';
import { disagreements, sizes } from './audit-queries';
import type { Disagreement } from './audit-queries';
import { examples } from './command';
import type { Commands } from './command';
import { Installation } from './installation';
import { EXIT } from './terminal';
import type { Terminal } from './terminal';

/** What is under way at the first look is settled at the second: rows and ledger follow the log within moments. */
const LOOK_AGAIN_MS = 2_000;
/** Looks before a disagreement is believed. */
const LOOKS = 4;

export const auditCommands: Commands = (program, line) => {
  program
    .command('audit')
    .summary('prove that the ledger and the runs agree to the token')
    .description(
      'Compares what the budget ledger has settled with what runs have spent: by tree, by owner and week, and by model. Deleted runs are accounted for by their tombstones.',
    )
    .option('--json', 'print the disagreements as JSON')
    .addHelpText(
      'before',
      examples(
        ['runyard audit', 'every tree, owner, week and model'],
        ['runyard audit --json', 'the disagreements as JSON'],
      ),
    )
    .addHelpText(
      'after',
      '\nExit codes: 0 they agree, 1 they do not, 2 could not be compared.\nThe last line says: audit: equal <n> trees <m> weeks <t> tokens',
    )
    .action((options: { json?: boolean }) =>
      line.run((signal) =>
        Installation.use(line.file(), (installation) => audit(installation, options, line.terminal, signal)),
      ),
    );
};

/** Reads only. What is found is looked at again, so that work may go on meanwhile. Returns the exit code. */
async function audit(
  installation: Installation,
  { json }: { json?: boolean },
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  let seen = await look(installation, signal);
  let found = seen;
  for (let looks = 1; seen.length > 0 && looks < LOOKS; looks++) {
    terminal.progress(`${seen.length} disagreements; looking again`);
    await wait(LOOK_AGAIN_MS, undefined, { signal });
    const again = await look(installation, signal);
    found = persisting(seen, again);
    seen = again;
  }
  terminal.progress('');
  return report(installation, found, json === true, terminal);
}

async function look({ db }: Installation, signal: AbortSignal): Promise<Disagreement[]> {
  const rows = await db.read((tx) => disagreements(tx));
  return [...rows, ...(await modelDisagreements(db, signal))];
}

const nameOf = ({ kind, org, what }: Disagreement): string => `${kind} ${org} ${what}`;

/** What both looks found; the newer one's numbers. Earlier looks do not count: what was late then may show a difference now. */
function persisting(before: readonly Disagreement[], now: readonly Disagreement[]): Disagreement[] {
  const known = new Set(before.map(nameOf));
  return now.filter((one) => known.has(nameOf(one)));
}

async function report(
  { db }: Installation,
  found: readonly Disagreement[],
  json: boolean,
  terminal: Terminal,
): Promise<number> {
  const { trees, weeks, tokens } = await db.read((tx) => sizes(tx));
  const equal = found.length === 0;
  if (json) terminal.out(JSON.stringify({ equal, trees, weeks, tokens, differences: found }));
  const tell = (text: string): void => (json ? terminal.say(text) : terminal.out(text));
  for (const { kind, org, what, ledger, runs } of found)
    tell(`${kind} ${what} of org ${org}: the ledger has ${ledger}, the runs have ${runs}`);
  tell(`audit: ${equal ? 'equal' : 'different'} ${trees} trees ${weeks} weeks ${tokens} tokens`);
  return equal ? EXIT.ok : EXIT.found;
}

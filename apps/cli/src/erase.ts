import { examples } from './command';
import type { CommandLine, Commands } from './command';
import { eraseOrg } from './erase-org';
import { eraseOneRun } from './erase-one-run';
import { erasePerson } from './erase-person';
import { Installation } from './installation';
import { receiptLines } from './receipt';
import type { Receipt } from './receipt';
import { confirm, EXIT } from './terminal';

export interface EraseOptions {
  org?: string;
  rewrite?: boolean;
  json?: boolean;
  yes?: boolean;
}

/** How a kind of thing is erased. */
export type Eraser = (
  installation: Installation,
  id: string,
  options: EraseOptions,
  line: CommandLine,
  signal: AbortSignal,
) => Promise<Receipt>;

const KINDS: readonly { kind: string; does: string; erase: Eraser }[] = [
  {
    kind: 'run',
    does: 'a run: rows, log, archive and large texts, questions about its calls too. A task that asked for it copied what it answered: the task goes with all its runs',
    erase: eraseOneRun,
  },
  {
    kind: 'user',
    does: 'a person: account, keys, agents, conversations, documents, tasks, rules about them, and every run of theirs, also what they deleted before. Unfinished runs are cancelled first',
    erase: erasePerson,
  },
  { kind: 'org', does: 'an org with everything that it left, in every stream and table', erase: eraseOrg },
];

export const eraseCommands: Commands = (program, line) => {
  const erase = program
    .command('erase')
    .summary('make content unreadable: a run, a person, an org')
    .description(
      'Erases content for good: overwritten message by message in the log, removed from archive, rows and large texts. What stays is that it was, and what it spent. Prints a receipt that says where copies may remain.',
    )
    .addHelpText(
      'before',
      examples(
        ['runyard erase run run_7f…', 'one run'],
        ['runyard erase user 6f1c…-…', 'a person and every run of theirs'],
        ['runyard erase org 11aa…-… --rewrite --yes', 'an org; tables are written anew at once'],
      ),
    );
  for (const { kind, does, erase: eraser } of KINDS)
    erase
      .command(`${kind} <id>`)
      .description(`Erases ${does}.`)
      .option('--org <id>', 'of this org (default: the org of the connection)')
      .option(
        '--rewrite',
        'write tables anew (VACUUM FULL): they are locked meanwhile, and no old page stays',
      )
      .option('--json', 'print the receipt as JSON')
      .option('--yes', 'do not ask')
      .action((id: string, options: EraseOptions) =>
        line.run((signal) =>
          Installation.use(line.file(), async (installation) => {
            await confirm(line.terminal, `This erases the ${kind} ${id} for good.`, id, options.yes);
            const receipt = await eraser(installation, id, options, line, signal);
            if (options.json) line.terminal.out(JSON.stringify(receipt));
            else for (const text of receiptLines(receipt)) line.terminal.out(text);
            return EXIT.ok;
          }),
        ),
      );
};

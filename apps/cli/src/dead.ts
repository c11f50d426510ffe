import { InvalidArgumentError } from 'commander';
import { deadLetters } from '@runyard/event-log';
import type { DeadLetter, DeadLetters } from '@runyard/event-log';
import { examples, whole } from './command';
import type { CommandLine, Commands } from './command';
import { Installation } from './installation';
import { asJson, factsOf, rowOf, HEAD } from './dead-letter-views';
import { sendBack } from './checkpoints';
import { CommandFailed, confirm, EXIT, table } from './terminal';
import type { Terminal } from './terminal';

/** How many dead letters a list shows at most. */
const MOST = 100;

export const deadCommands: Commands = (program, line) => {
  const dead = program
    .command('dead')
    .summary('messages that nobody could handle: list, show, retry, drop')
    .description('Dead letters: messages that nobody could handle, kept with the reason until you decide.')
    .addHelpText(
      'before',
      examples(
        ['runyard dead list', 'what lies there, oldest first'],
        ['runyard dead show 7', 'one of them, whole'],
        ['runyard dead retry 7', 'put it back on its queue, after the cause is mended'],
        ['runyard dead drop 7 --yes', 'erase it'],
      ),
    );
  dead
    .command('list')
    .description('Lists dead letters, oldest first.')
    .option('--after <sequence>', 'only those after this one', place, 0)
    .option('--limit <n>', `how many at most (default ${MOST})`, place, MOST)
    .option('--json', 'one JSON object a line, with the body')
    .action((options: { after: number; limit: number; json?: boolean }) =>
      onLetters(line, (letters) => list(letters, options, line)),
    );
  dead
    .command('show <sequence>')
    .description('Shows one dead letter, whole.')
    .option('--json', 'as JSON')
    .action((sequence: string, options: { json?: boolean }) =>
      onLetters(line, (letters) => show(letters, place(sequence), options, line)),
    );
  deciding(dead, line);
};

function deciding(dead: Parameters<Commands>[0], line: CommandLine): void {
  dead
    .command('retry <sequences...>')
    .description('Puts messages back on their queues and takes the dead letters away.')
    .action((sequences: string[]) =>
      onLetters(line, (letters, installation) => retry(letters, sequences.map(place), installation, line)),
    );
  dead
    .command('drop <sequences...>')
    .description('Erases dead letters. What they stood for is not done.')
    .option('--yes', 'do not ask')
    .action((sequences: string[], options: { yes?: boolean }) =>
      onLetters(line, (letters) => drop(letters, sequences.map(place), options, line)),
    );
}

function place(text: string): number {
  try {
    return whole(text);
  } catch {
    throw new InvalidArgumentError('It is a whole number, as the list shows it.');
  }
}

const onLetters = (
  line: CommandLine,
  work: (letters: DeadLetters, installation: Installation) => Promise<number>,
): Promise<void> =>
  line.run(() =>
    Installation.use(line.file(), async (installation) => {
      const letters = deadLetters((await installation.bus()).connection);
      try {
        return await work(letters, installation);
      } finally {
        letters.close();
      }
    }),
  );

async function list(
  letters: DeadLetters,
  { json, ...page }: { after: number; limit: number; json?: boolean },
  { terminal }: CommandLine,
): Promise<number> {
  const found = await letters.list(page);
  if (json) for (const letter of found) terminal.out(asJson(letter));
  if (json) return EXIT.ok;
  if (found.length === 0) terminal.say('There are no dead letters');
  if (found.length > 0) for (const line of table(HEAD, found.map(rowOf))) terminal.out(line);
  if (found.length === page.limit)
    terminal.say(`There may be more: runyard dead list --after ${found.at(-1)?.sequence ?? 0}`);
  return EXIT.ok;
}

async function show(
  letters: DeadLetters,
  sequence: number,
  { json }: { json?: boolean },
  { terminal }: CommandLine,
): Promise<number> {
  const letter = await letters.get(sequence);
  if (!letter) throw new CommandFailed(`There is no dead letter ${sequence}; see: runyard dead list`);
  if (json) {
    terminal.out(asJson(letter));
    return EXIT.ok;
  }
  for (const [name, value] of factsOf(letter)) terminal.out(`${name.padEnd(14)}${value}`);
  terminal.out(`\n${Buffer.from(letter.body).toString('utf8')}`);
  terminal.say(`\nMend the cause, then: runyard dead retry ${sequence}`);
  return EXIT.ok;
}

/** A reaction's dead letter names a commit: its subject is its own, and putting it back would only store it again. */
const isOfReaction = ({ subject }: DeadLetter): boolean => subject.startsWith('runyard.dead.');

async function retry(
  letters: DeadLetters,
  sequences: readonly number[],
  installation: Installation,
  { terminal }: CommandLine,
): Promise<number> {
  for (const sequence of sequences) {
    const letter = await letters.get(sequence);
    if (!letter) throw new CommandFailed(`There is no dead letter ${sequence}; see: runyard dead list`);
    if (isOfReaction(letter)) await repeatReaction(letters, letter, installation, terminal);
    else {
      const stored = await letters.retry(sequence);
      terminal.say(`Dead letter ${sequence} lies on ${letter.stream} again, as ${stored.sequence}`);
    }
  }
  return EXIT.ok;
}

/** A reaction reads the stream itself and repeats harmlessly, so it is sent back to the commit that it gave up on. */
async function repeatReaction(
  letters: DeadLetters,
  { sequence, consumer, stream, originSequence }: DeadLetter,
  { db }: Installation,
  terminal: Terminal,
): Promise<void> {
  if (!(originSequence > 0))
    throw new CommandFailed(`Dead letter ${sequence} does not say which commit it is about`);
  const moved = await db.write((tx) => sendBack(tx, consumer, stream, originSequence - 1));
  if (moved === 0) throw new CommandFailed(`There is no checkpoint of a reaction ${consumer} of ${stream}`);
  await letters.drop(sequence);
  terminal.say(`The reaction ${consumer} reads ${stream} again from ${originSequence} on`);
}

async function drop(
  letters: DeadLetters,
  sequences: readonly number[],
  { yes }: { yes?: boolean },
  { terminal }: CommandLine,
): Promise<number> {
  await confirm(terminal, `This erases dead letters ${sequences.join(', ')} for good.`, 'drop', yes);
  for (const sequence of sequences) {
    if (!(await letters.get(sequence)))
      throw new CommandFailed(`There is no dead letter ${sequence}; see: runyard dead list`);
    await letters.drop(sequence);
    terminal.say(`Dead letter ${sequence} is erased`);
  }
  return EXIT.ok;
}

import { Command, CommanderError } from 'commander';
import { auditCommands } from './audit';
import { NoAnswer, Refused } from '@runyard/client';
import { Problem } from '@runyard/contracts';
import { activityCommands } from './activity';
import { agentsCommands } from './agents';
import { archiveCommands } from './archive';
import { boardCommands } from './board';
import { budgetsCommands } from './budgets';
import { bulkCommands } from './bulk';
import type { CommandLine, Commands } from './command';
import { coloursWanted } from './config';
import { deadCommands } from './dead';
import { doctorCommands } from './doctor';
import { retentionCommands } from './retention';
import { runsCommands } from './runs';
import { streamsCommands } from './streams';
import { CommandFailed, EXIT, realTerminal } from './terminal';
import type { Terminal } from './terminal';
import { eraseCommands } from './erase';
import { evalCommands } from './eval';
import { replayCommands } from './replay';
import { verifyCommands } from './verify';

/** Groups of commands, in the order of the help. */
const COMMANDS: readonly Commands[] = [
  runsCommands,
  bulkCommands,
  agentsCommands,
  budgetsCommands,
  boardCommands,
  activityCommands,
  streamsCommands,
  deadCommands,
  verifyCommands,
  auditCommands,
  replayCommands,
  retentionCommands,
  eraseCommands,
  evalCommands,
  archiveCommands,
  doctorCommands,
];

const EXIT_CODES = `
Exit codes: 0 as it should be, 1 it is not (differences, a run that failed), 2 the command could not do its work.
Data goes to stdout, everything else to stderr. NO_COLOR is respected.`;

/** Runs one command and returns its exit code. Data goes to stdout, talk to stderr. */
export async function runCommandLine(
  argv: readonly string[],
  terminal: Terminal = realTerminal(coloursWanted()),
): Promise<number> {
  let code: number = EXIT.ok;
  const program = new Command('runyard')
    .description('Operates a Runyard installation.')
    .option(
      '--connection <file>',
      'connection file (default: .runyard/connection.json; variable RUNYARD_CONNECTION)',
    )
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      writeErr: (text) => terminal.say(text.trimEnd()),
    })
    .addHelpText('after', EXIT_CODES);
  const line: CommandLine = {
    terminal,
    file: () => program.opts<{ connection?: string }>().connection,
    run: async (work) => void (code = await interruptible(work)),
  };
  for (const add of COMMANDS) add(program, line);
  try {
    await program.parseAsync([...argv]);
    return code;
  } catch (error) {
    return failed(error, terminal);
  }
}

/** Ctrl-C ends a command in order; a second one at once. */
async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const interrupt = () => stop.abort(new CommandFailed('Interrupted'));
  process.once('SIGINT', interrupt);
  try {
    return await work(stop.signal);
  } finally {
    process.removeListener('SIGINT', interrupt);
  }
}

function failed(error: unknown, terminal: Terminal): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.failed;
  if (error instanceof CommandFailed || isSaid(error)) terminal.say(`runyard: ${error.message}`);
  else terminal.say(`runyard: ${described(error)}`);
  return EXIT.failed;
}

/** What the API or a check of a file says is for people as it is. */
const isSaid = (error: unknown): error is Error => error instanceof Refused || error instanceof Problem;

/** A refused connection says what to do; anything else is a defect and keeps its stack. */
function described(error: unknown): string {
  if (error instanceof NoAnswer) return `${error.message}${why(error.cause)}; is Runyard running?`;
  const { code, stack, message } = Object(error) as { code?: unknown; stack?: string; message?: string };
  if (code === 'ECONNREFUSED') return 'The database does not answer; is Runyard running?';
  if (code === '28P01' || code === '28000') return 'The database refuses the login of the connection';
  if (isOfFile(error)) return error.message;
  return stack ?? message ?? String(error);
}

/** A file that is not there, or may not be read, is no defect; the system's words name it. */
const isOfFile = (error: unknown): error is { message: string } =>
  ['code', 'syscall', 'path', 'message'].every(
    (member) => typeof Reflect.get(Object(error), member) === 'string',
  );

/** The system's code for why there was no answer; fetch hides it in a cause of its own. */
function why(failure: unknown): string {
  const { cause } = Object(failure) as { cause?: { code?: string } };
  return cause?.code === undefined ? '' : ` (${cause.code})`;
}

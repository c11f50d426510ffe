import { Command, CommanderError, Option } from 'commander';
import { CommandFailed, EXIT, terminal as realTerminal } from './terminal';
import type { Terminal } from './terminal';
import { verify } from './verify';

const VERIFY_HELP = `
Examples:
  runyard verify                  prove the rows of runs against the stream
  runyard verify --from archive   against the archive in Postgres, which outlives the stream
  runyard verify --json           the comparison of every table as JSON

Exit codes: 0 equal, 1 different, 2 could not be verified.
The last line says: verify: equal <n> runs <m> steps at <position>`;

/** Runs one command and returns its exit code. Data goes to stdout, talk to stderr. */
export async function runCommandLine(
  argv: readonly string[],
  terminal: Terminal = realTerminal,
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
    });
  program
    .command('verify')
    .description(
      'rebuilds the tables of runs from the log beside the live ones and proves them equal, row for row',
    )
    .addOption(
      new Option('--from <source>', 'what to rebuild from').choices(['stream', 'archive']).default('stream'),
    )
    .option('--json', 'print the comparison as JSON')
    .addHelpText('after', VERIFY_HELP)
    .action(async (options: { from: 'stream' | 'archive'; json?: boolean }) => {
      const { connection } = program.opts<{ connection?: string }>();
      code = await interruptible((signal) => verify({ ...options, connection, signal }, terminal));
    });
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
  if (error instanceof CommandFailed) terminal.say(`runyard: ${error.message}`);
  else terminal.say(`runyard: ${described(error)}`);
  return EXIT.failed;
}

/** A refused connection says what to do; anything else is a defect and keeps its stack. */
function described(error: unknown): string {
  const { code, stack, message } = Object(error) as { code?: unknown; stack?: string; message?: string };
  if (code === 'ECONNREFUSED') return 'The database does not answer; is Runyard running?';
  if (code === '28P01' || code === '28000') return 'The database refuses the login of the connection';
  return stack ?? message ?? String(error);
}

import type { Command } from 'commander';
import { CommandFailed, EXIT } from './terminal';
import type { Terminal } from './terminal';

/** What the commands of the command line get from it. */
export interface CommandLine {
  terminal: Terminal;
  /** The connection file that was named. */
  file(): string | undefined;
  /** Runs a command's work; the code that it returns is the exit code. `signal` aborts at Ctrl-C. */
  run(work: (signal: AbortSignal) => Promise<number>): Promise<void>;
}

/** Adds a group of commands. */
export type Commands = (program: Command, line: CommandLine) => void;

/** Examples come first in a command's help. */
export const examples = (...lines: readonly [command: string, does: string][]): string => {
  const width = Math.max(...lines.map(([command]) => command.length));
  return `Examples:\n${lines.map(([command, does]) => `  ${command.padEnd(width)}   ${does}`).join('\n')}\n`;
};

/** Of commands that look back. */
export const AS_OF = [
  '--as-of <place>',
  'as of this position in the log, or this time (RFC 3339)',
] as const satisfies readonly [string, string];

/** Facts of one thing, a line each; what it does not have is a dash. */
export const factLines = (facts: readonly (readonly [string, string | number | null])[]): string[] => {
  const width = Math.max(...facts.map(([name]) => name.length));
  return facts.map(([name, value]) => `${name.padEnd(width)}  ${value ?? '–'}`);
};

/** Prints a list: an object a line, or lines for people; where there is nothing, it is said. */
export function tellAll<T>(
  terminal: Terminal,
  found: readonly T[],
  { json, lines, none }: { json?: boolean; lines: (found: readonly T[]) => string[]; none: string },
): number {
  const texts = json ? found.map((one) => JSON.stringify(one)) : found.length > 0 ? lines(found) : [];
  for (const text of texts) terminal.out(text);
  if (found.length === 0) terminal.say(none);
  return EXIT.ok;
}

/** Prints one thing, as JSON or as lines for people. */
export function tellOne<T>(
  terminal: Terminal,
  found: T,
  json: boolean | undefined,
  lines: (found: T) => string[],
): number {
  for (const text of json ? [JSON.stringify(found)] : lines(found)) terminal.out(text);
  return EXIT.ok;
}

/** A whole number from 0 on, for options. Throws CommandFailed. */
export function whole(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value))
    throw new CommandFailed(`"${text}" is no whole number`);
  return value;
}

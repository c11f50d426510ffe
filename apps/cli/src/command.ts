import type { Command } from 'commander';
import { CommandFailed } from './terminal';
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

/** A whole number from 0 on, for options. Throws CommandFailed. */
export function whole(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value))
    throw new CommandFailed(`"${text}" is no whole number`);
  return value;
}

import { createInterface } from 'node:readline/promises';

/** Where a command writes: data to `out`, everything said to people to `say`. */
export interface Terminal {
  /** Lines of data, for pipes. */
  out(line: string): void;
  /** Talk, for people. */
  say(line: string): void;
  /** Progress that the next one overwrites; nothing where nobody looks. */
  progress(line: string): void;
  /** Asks a person; undefined where nobody is there to answer. */
  ask?(question: string): Promise<string | undefined>;
  /** Emphasis where colours are wanted; the text itself otherwise. */
  mark?(text: string, how: Mark): string;
}

export type Mark = 'bold' | 'red' | 'green' | 'dim';

const CODES: Readonly<Record<Mark, number>> = { bold: 1, red: 31, green: 32, dim: 2 };

/** stdout for data, stderr for talk. */
export const realTerminal = (colours: boolean): Terminal => ({
  out: (line) => void process.stdout.write(`${line}\n`),
  say: (line) => void process.stderr.write(`${line}\n`),
  progress: (line) => {
    if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${line}`);
  },
  ask: async (question) => {
    if (!process.stdin.isTTY) return undefined;
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    try {
      return await lines.question(question);
    } finally {
      lines.close();
    }
  },
  mark: (text, how) => (colours && process.stdout.isTTY ? `\u001b[${CODES[how]}m${text}\u001b[0m` : text),
});

/** How commands end. */
export const EXIT = {
  /** It is as it should be. */
  ok: 0,
  /** The command did its work and found that something is not as it should be. */
  found: 1,
  /** The command could not do its work. */
  failed: 2,
} as const;

/** A reason why a command could not do its work, in words for people; anything else is a defect and keeps its stack. */
export class CommandFailed extends Error {}

/**
 * Lets a person confirm what cannot be undone by typing `word`; `yes` answers beforehand. Throws CommandFailed where it is
 * not confirmed.
 */
export async function confirm(terminal: Terminal, what: string, word: string, yes?: boolean): Promise<void> {
  if (yes) return;
  terminal.say(what);
  const typed = await terminal.ask?.(`Type ${word} to go on: `);
  if (typed === undefined) throw new CommandFailed('Nobody is there to confirm this; pass --yes');
  if (typed.trim() !== word) throw new CommandFailed('Not confirmed; nothing was done');
}

/** Rows of text as a table: columns as wide as their widest cell, numbers to the right. */
export function table(
  head: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): string[] {
  const cells = rows.map((row) => row.map((cell) => (cell === null ? '–' : String(cell))));
  const widths = head.map((name, column) =>
    Math.max(name.length, ...cells.map((row) => row[column]?.length ?? 0)),
  );
  const right = head.map(
    (_, column) => rows.length > 0 && rows.every((row) => typeof row[column] !== 'string'),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) =>
        right[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return [line(head), ...cells.map(line)];
}

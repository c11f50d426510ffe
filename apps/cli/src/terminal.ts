/** Where a command writes: data to `out`, everything said to people to `say`. */
export interface Terminal {
  /** Lines of data, for pipes. */
  out(line: string): void;
  /** Talk, for people. */
  say(line: string): void;
  /** Progress that the next one overwrites; nothing where nobody looks. */
  progress(line: string): void;
}

/** stdout for data, stderr for talk. */
export const terminal: Terminal = {
  out: (line) => void process.stdout.write(`${line}\n`),
  say: (line) => void process.stderr.write(`${line}\n`),
  progress: (line) => {
    if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${line}`);
  },
};

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

import type { Certainty, Stance } from './certainty';
import { anyOf } from './certainty';
import type { CommandLine, ShellCommand } from './command-line';
import { MOST_WORDS, parseCommandLine } from './command-line';
import { globMatches } from './globs';
import type { ShellWord } from './shell-words';
import { programOf, unwrapped } from './wrapped-commands';

/**
 * Whether a command line matches one of the patterns. Patterns are words: `*` as a word stands for exactly one, at the end for
 * any number; `**` for any number anywhere; `*` inside a word for anything in it.
 *
 * `strict`: every command of the line must match as it is written, with nothing around it that could change what it does.
 * `wary`: one command is enough, also behind wrappers and paths; `unknown` where a command does not show.
 */
export function commandMatches(value: unknown, patterns: readonly string[], stance: Stance): Certainty {
  const line = lineOf(value);
  if (!line) return stance === 'strict' ? 'no' : 'unknown';
  const split = patterns.map((pattern) => pattern.trim().split(/\s+/));
  return stance === 'strict' ? allAllowed(line, split) : anyMeant(line, split);
}

/** A text is parsed; a list of texts is one command whose words no shell sees. Undefined: neither. */
function lineOf(value: unknown): CommandLine | undefined {
  if (typeof value === 'string') return parseCommandLine(value);
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST_WORDS) return undefined;
  const words: ShellWord[] = [];
  for (const text of value) {
    if (typeof text !== 'string') return undefined;
    words.push({ text, known: true, quoted: true });
  }
  return { commands: [{ words, assignments: false, redirected: false }], opaque: false };
}

type Pattern = readonly string[];

function allAllowed({ commands, opaque }: CommandLine, patterns: readonly Pattern[]): Certainty {
  const plain = ({ words, assignments, redirected }: ShellCommand) =>
    !assignments &&
    !redirected &&
    words[0]?.known === true &&
    patterns.some((pattern) => wordsMatch(pattern, words) === 'yes');
  return !opaque && commands.length > 0 && commands.every(plain) ? 'yes' : 'no';
}

function anyMeant(line: CommandLine, patterns: readonly Pattern[]): Certainty {
  const inner = line.commands.map((command) => unwrapped(command));
  const commands = [...line.commands, ...inner.flatMap((one) => one.commands)];
  const found = commands.flatMap(({ words }) => patterns.map((pattern) => wordsMatch(pattern, bare(words))));
  if (line.opaque || inner.some(({ opaque }) => opaque)) found.push('unknown');
  return anyOf(found);
}

/** The program without its path, since `/bin/rm` does what `rm` does. */
const bare = (words: readonly ShellWord[]): ShellWord[] =>
  words.map((word, at) => (at === 0 ? { ...word, text: programOf(word) } : word));

/** Matches words one by one; a word that a shell would still change fits only what stands for anything. */
function wordsMatch(pattern: Pattern, words: readonly ShellWord[], from = 0, at = 0): Certainty {
  const [wanted, last] = [pattern[from], from === pattern.length - 1];
  if (wanted === undefined) return at >= words.length ? 'yes' : 'no';
  if (wanted === '*' && last) return from > 0 || words.length > 0 ? 'yes' : 'no';
  if (wanted === '**') {
    if (last) return 'yes';
    const starts = Array.from({ length: words.length - at + 1 }, (_, more) => at + more);
    return anyOf(starts.map((start) => wordsMatch(pattern, words, from + 1, start)));
  }
  const word = words[at];
  if (!word) return 'no';
  const here = wordMatches(wanted, word);
  if (here === 'no') return 'no';
  const rest = wordsMatch(pattern, words, from + 1, at + 1);
  return rest === 'yes' ? here : rest;
}

function wordMatches(wanted: string, { text, known }: ShellWord): Certainty {
  if (wanted === '*') return 'yes';
  if (!known) return 'unknown';
  return globMatches(wanted, text) ? 'yes' : 'no';
}

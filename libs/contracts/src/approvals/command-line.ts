import type { ShellToken, ShellWord } from './shell-words';
import { shellTokens } from './shell-words';

/** One command of a line: what would be run if nothing stood around it. */
export interface ShellCommand {
  words: ShellWord[];
  /** `NAME=value` in front of it: it may change what the command does. */
  assignments: boolean;
  /** It reads or writes a file beside its words. Joining descriptors and `/dev/null` do not count. */
  redirected: boolean;
}

export interface CommandLine {
  commands: ShellCommand[];
  /** True: the line may hold more commands than are listed. */
  opaque: boolean;
}

/** Lines within lines within lines: deeper than this nobody means well. */
const MOST_NESTED = 8;
const LONGEST = 100_000;
/** Words of a line, or of a list, that are still compared; matching may look at each pair of them. */
export const MOST_WORDS = 4_000;
const BETWEEN = new Set(['&&', '||', ';;', '|&', '&', ';', '|', '(', ')']);
/** Words of the shell's own grammar after which a command follows. */
const BEFORE_COMMAND = new Set([
  'if',
  'then',
  'else',
  'elif',
  'while',
  'until',
  'do',
  '!',
  '{',
  'time',
  'coproc',
]);
const CLOSING = new Set(['fi', 'done', 'esac', '}']);
/** Grammar that is not followed further: its commands are read as far as they show. */
const COMPOUND = new Set(['for', 'case', 'select', 'function', '[[', 'in']);
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*(\[[^\]]*\])?\+?=/;

/** Reads a line of a POSIX shell into all its commands, those of substitutions and subshells among them. */
export function parseCommandLine(line: string, depth = 0): CommandLine {
  if (depth > MOST_NESTED || line.length > LONGEST) return { commands: [], opaque: true };
  const { tokens, inner, opaque } = shellTokens(line);
  if (tokens.length > MOST_WORDS) return { commands: [], opaque: true };
  const read = new LineReader(tokens);
  const nested = inner.map((text) => parseCommandLine(text, depth + 1));
  return {
    commands: [...read.commands, ...nested.flatMap((one) => one.commands)],
    opaque: opaque || read.opaque || nested.some((one) => one.opaque),
  };
}

const empty = (): ShellCommand => ({ words: [], assignments: false, redirected: false });

class LineReader {
  readonly commands: ShellCommand[] = [];
  opaque = false;
  private command = empty();

  constructor(private readonly tokens: ShellToken[]) {
    for (let at = 0; at < tokens.length; at++) at += this.take(at);
    this.end();
  }

  /** Takes the token at `at`; answers how many more it used. */
  private take(at: number): number {
    const token = this.tokens[at];
    if (token?.kind === 'word') {
      this.addWord(token.word);
      return 0;
    }
    const operator = token?.text ?? '';
    if (!BETWEEN.has(operator)) return this.redirect(operator, this.tokens[at + 1]);
    // `name () …` defines a function; a parenthesis after words is nothing else that we know.
    if (operator === '(' && this.command.words.length > 0) this.opaque = true;
    this.end();
    return 0;
  }

  private addWord(word: ShellWord): void {
    const first = this.command.words.length === 0;
    if (first && !word.quoted && this.keyword(word.text)) return;
    if (first && !word.text.startsWith('=') && ASSIGNMENT.test(word.text)) this.command.assignments = true;
    else this.command.words.push(word);
  }

  private keyword(text: string): boolean {
    if (COMPOUND.has(text)) this.opaque = true;
    return BEFORE_COMMAND.has(text) || CLOSING.has(text);
  }

  private redirect(operator: string, target: ShellToken | undefined): number {
    if (target?.kind !== 'word' || operator === '<<' || operator === '<<-') {
      this.opaque = true;
      return 0;
    }
    const { text, known } = target.word;
    const descriptor = operator.endsWith('&') && /^(\d+|-)$/.test(text);
    if (!known || !(descriptor || text === '/dev/null')) this.command.redirected = true;
    return 1;
  }

  private end(): void {
    const { words, assignments, redirected } = this.command;
    // A lone assignment or redirection does something too, though it names no command.
    if (words.length > 0 || assignments || redirected) this.commands.push(this.command);
    this.command = empty();
  }
}

// A reader of POSIX shell command lines, as far as a rule must understand them: which words, which operators, what a shell
// would run inside of them. It never guesses: what it does not understand makes the line opaque.

/** A word of a command. `known` is false where a shell would still change it: variables, globs, substitutions. */
export interface ShellWord {
  text: string;
  known: boolean;
  /** True where any part of it was quoted: then it is never a keyword or an assignment. */
  quoted: boolean;
}

export type ShellToken = { kind: 'word'; word: ShellWord } | { kind: 'operator'; text: string };

export interface ShellTokens {
  tokens: ShellToken[];
  /** Command lines inside substitutions. */
  inner: string[];
  /** True: there is more in it than was understood. */
  opaque: boolean;
}

/** Longest first: `&&` before `&`. */
const OPERATORS = [
  '<<<', '<<-', '&>>', '&&', '||', ';;', '|&', '&>', '>>', '>|', '>&', '<<', '<&', '<>', '&', ';', '|', '(', ')', '<', '>',
]; // prettier-ignore
/** What a shell would replace in a word that is not quoted. */
const EXPANDED = /[*?[\]{}~]/;
const CONTROL = /(?![\t\n])\p{Cc}/u;

/** Cuts a command line into words and operators; a newline is the operator `;`. */
export function shellTokens(line: string): ShellTokens {
  const reader = new ShellReader(line);
  reader.read();
  return { tokens: reader.tokens, inner: reader.inner, opaque: reader.opaque };
}

class ShellReader {
  readonly tokens: ShellToken[] = [];
  readonly inner: string[] = [];
  opaque: boolean;
  private at = 0;
  private word: ShellWord | undefined;

  constructor(private readonly line: string) {
    // A carriage return or a NUL is read differently by different shells.
    this.opaque = CONTROL.test(line);
  }

  read(): void {
    while (this.at < this.line.length) this.step(this.line.charAt(this.at));
    this.endWord();
  }

  private step(char: string): void {
    if (char === '\\') return this.escape();
    if (char === "'") return this.single();
    if (char === '"') return this.double();
    if (char === '$') return this.dollar();
    if (char === '`') return this.backticks();
    if (char === ' ' || char === '\t') return this.skip();
    if (char === '\n') return this.operator(';', 1);
    if (char === '#' && !this.word) return this.comment();
    if ((char === '<' || char === '>') && this.line.charAt(this.at + 1) === '(') return this.substitution(2);
    const operator = OPERATORS.find((text) => this.line.startsWith(text, this.at));
    if (operator) return this.operator(operator, operator.length);
    this.add(char, !EXPANDED.test(char));
    this.at++;
  }

  private add(text: string, known = true, quoted = false): void {
    this.word ??= { text: '', known: true, quoted: false };
    this.word.text += text;
    this.word.known &&= known;
    this.word.quoted ||= quoted;
  }

  private endWord(): void {
    if (this.word) this.tokens.push({ kind: 'word', word: this.word });
    this.word = undefined;
  }

  private skip(): void {
    this.endWord();
    this.at++;
  }

  private operator(text: string, length: number): void {
    // The number of `2>` belongs to the operator, not to the command's words.
    const descriptor = /^[<>]/.test(text) && this.word && !this.word.quoted && /^\d+$/.test(this.word.text);
    if (descriptor) this.word = undefined;
    this.endWord();
    this.tokens.push({ kind: 'operator', text });
    this.at += length;
  }

  private comment(): void {
    while (this.at < this.line.length && this.line.charAt(this.at) !== '\n') this.at++;
  }

  private escape(): void {
    const next = this.line.charAt(this.at + 1);
    // A backslash before a newline joins the lines; at the very end it waits for more.
    if (next === '') this.opaque = true;
    else if (next !== '\n') this.add(next, true, true);
    this.at += 2;
  }

  private single(): void {
    const end = this.line.indexOf("'", this.at + 1);
    if (end < 0) return this.giveUp();
    this.add(this.line.slice(this.at + 1, end), true, true);
    this.at = end + 1;
  }

  private double(): void {
    this.add('', true, true);
    this.at++;
    while (this.line.charAt(this.at) !== '"') {
      if (this.at >= this.line.length) return this.giveUp();
      this.insideDouble(this.line.charAt(this.at));
    }
    this.at++;
  }

  private insideDouble(char: string): void {
    if (char === '$') return this.dollar();
    if (char === '`') return this.backticks();
    const next = this.line.charAt(this.at + 1);
    const escaped = char === '\\' && next !== '' && '$`"\\\n'.includes(next);
    if (!escaped) this.add(char);
    else if (next !== '\n') this.add(next);
    this.at += escaped ? 2 : 1;
  }

  private dollar(): void {
    const next = this.line.charAt(this.at + 1);
    if (next === '(') return this.substitution(2);
    if (next === '{') return this.braces();
    // $'…' has escapes of its own, $"…" a translation: neither is worth a reader, both are rare.
    if (next === "'" || next === '"') this.opaque = true;
    this.add('$', !/[A-Za-z0-9_@*#?!$-]/.test(next));
    this.at++;
  }

  /** `${…}` may itself hold a substitution; its text is no command. */
  private braces(): void {
    const end = this.line.indexOf('}', this.at);
    if (end < 0) return this.giveUp();
    const text = this.line.slice(this.at, end + 1);
    if (/[`(]|\$\{.*\$/.test(text)) this.opaque = true;
    this.add(text, false);
    this.at = end + 1;
  }

  private backticks(): void {
    const end = closingBacktick(this.line, this.at + 1);
    if (end < 0) return this.giveUp();
    this.inner.push(this.line.slice(this.at + 1, end).replace(/\\([`\\$])/g, '$1'));
    this.add('`…`', false);
    this.at = end + 1;
  }

  /** `$(…)`, `<(…)` and `>(…)`: a command line of its own. `$((…))` counts, and may hide one too. */
  private substitution(opening: number): void {
    const end = closingParenthesis(this.line, this.at + opening);
    if (end < 0) return this.giveUp();
    this.inner.push(this.line.slice(this.at + opening, end));
    this.add('$(…)', false);
    this.at = end + 1;
  }

  private giveUp(): void {
    this.opaque = true;
    this.at = this.line.length;
  }
}

function closingBacktick(line: string, from: number): number {
  for (let at = from; at < line.length; at++) {
    if (line.charAt(at) === '\\') at++;
    else if (line.charAt(at) === '`') return at;
  }
  return -1;
}

/** The parenthesis that closes, past quotes and further ones inside; -1: none. */
function closingParenthesis(line: string, from: number): number {
  let depth = 1;
  let quote = '';
  for (let at = from; at < line.length; at++) {
    const char = line.charAt(at);
    if (char === '\\' && quote !== "'") at++;
    else if (quote) quote = char === quote ? '' : quote;
    else if (char === "'" || char === '"') quote = char;
    else if (char === '(') depth++;
    else if (char === ')' && --depth === 0) return at;
  }
  return -1;
}

import type { CommandLine, ShellCommand } from './command-line';
import { parseCommandLine } from './command-line';
import type { ShellWord } from './shell-words';

// Commands that run other commands. A rule that denies looks through them; a rule that allows never does, since what it
// allows is the command as it is written.

/** Programs that run the rest of their words, and the options that take a value of their own. */
const RUNNERS: Readonly<Record<string, string>> = {
  nohup: '', setsid: '', exec: 'a', command: '', builtin: '', time: 'fo', nice: 'n', ionice: 'cnp', timeout: 'ks', env: 'uCS',
  sudo: 'ugpCDhRrTU', doas: 'uC', stdbuf: 'ioe', xargs: 'aEILnPsd', watch: 'n', chroot: '', unshare: '', busybox: '', toybox: '',
  strace: 'eopsu', ltrace: 'eo', script: 'c', flock: 'wE', taskset: '', chrt: '', runuser: 'u', parallel: 'j', caffeinate: 't',
}; // prettier-ignore
/** Programs whose first plain word is theirs (a duration, a root, a lock file) and not the command. */
const OWN_FIRST = new Set(['timeout', 'chroot', 'flock', 'taskset', 'chrt']);
const SHELLS = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash', 'fish', 'rbash', 'mksh']);
const FOUND = new Set(['-exec', '-execdir', '-ok', '-okdir']);
const MOST_LAYERS = 8;

/** The last part of a program's path: `/bin/rm` is `rm`. */
export const programOf = (word: ShellWord): string => word.text.slice(word.text.lastIndexOf('/') + 1);

const NOTHING: CommandLine = { commands: [], opaque: false };

/** Every command that this one would run, itself left out; opaque where what it runs does not show. */
export function unwrapped(command: ShellCommand, layers = 0): CommandLine {
  const [first, ...rest] = command.words;
  if (!first) return NOTHING;
  if (layers > MOST_LAYERS) return { commands: [], opaque: true };
  const direct = runBy(programOf(first), rest);
  const deeper = direct.commands.map((one) => unwrapped(one, layers + 1));
  return {
    commands: [...direct.commands, ...deeper.flatMap(({ commands }) => commands)],
    opaque: direct.opaque || deeper.some(({ opaque }) => opaque),
  };
}

function runBy(program: string, words: ShellWord[]): CommandLine {
  if (SHELLS.has(program)) return shell(words);
  if (program === 'eval') return textOf(words);
  if (program === 'source' || program === '.') return { commands: [], opaque: true };
  if (program === 'find' || program === 'fd') return found(words);
  const options = RUNNERS[program];
  return options === undefined ? NOTHING : runner(program, options, words);
}

/** `sh -c text`; a shell that reads its input or a file may run anything. */
function shell(words: ShellWord[]): CommandLine {
  const at = words.findIndex((word) => word.known && /^-[a-z]*c[a-z]*$/.test(word.text));
  const text = at < 0 ? undefined : words.slice(at + 1).find(({ text: word }) => !/^[-+]/.test(word));
  return text ? textOf([text]) : { commands: [], opaque: true };
}

function textOf(words: ShellWord[]): CommandLine {
  const line = parseCommandLine(words.map(({ text }) => text).join(' '));
  return { commands: line.commands, opaque: line.opaque || words.some(({ known }) => !known) };
}

function found(words: ShellWord[]): CommandLine {
  const commands = words.flatMap((word, at) =>
    FOUND.has(word.text) ? [commandOf(words.slice(at + 1))] : [],
  );
  return { commands, opaque: false };
}

function runner(program: string, options: string, words: ShellWord[]): CommandLine {
  // `env -S text` and `script -c text` take a whole line as one word.
  const lineAt = words.findIndex(({ text }) => /^(-S|--split-string|-c|--command)$/.test(text));
  if ((program === 'env' || program === 'script') && lineAt >= 0) return textOf(words.slice(lineAt + 1));
  let at = 0;
  while (words[at]?.text.startsWith('-')) at += takesValue(words[at]?.text ?? '', options) ? 2 : 1;
  while (/^[A-Za-z_]\w*=/.test(words[at]?.text ?? '')) at++;
  if (OWN_FIRST.has(program)) at++;
  const rest = words.slice(at);
  if (rest.length === 0) return { commands: [], opaque: program === 'xargs' || program === 'parallel' };
  // An option that we do not know may have swallowed a word: then the command begins one later.
  const later = words.some(({ text }) => text.startsWith('--')) ? [commandOf(rest.slice(1))] : [];
  return { commands: [commandOf(rest), ...later], opaque: false };
}

const takesValue = (option: string, options: string): boolean =>
  option.length === 2 && options.includes(option.charAt(1));
const commandOf = (words: ShellWord[]): ShellCommand => ({ words, assignments: false, redirected: false });

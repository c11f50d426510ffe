import fs from 'node:fs';
import path from 'node:path';
import { runCommandLine } from './command-line';

// A command in a guide that does not exist is found by the first reader; better here.
const folder = path.resolve(__dirname, '../../../docs');
const guides = fs.readdirSync(folder).filter((name) => name.endsWith('.md'));
const commandsIn = (name: string): string[] => {
  const text = fs.readFileSync(path.join(folder, name), 'utf8');
  return [...text.matchAll(/npx runyard ((?:[a-z][a-z-]* ?)+)/g)].map(([, words = '']) => words.trim());
};

async function helpOf(words: readonly string[]): Promise<string> {
  const lines: string[] = [];
  const terminal = {
    out: (line: string) => void lines.push(line),
    say: (line: string) => void lines.push(line),
    progress: () => undefined,
  };
  await runCommandLine(['node', 'runyard', ...words, '--help'], terminal);
  return lines.join('\n');
}

test.each(guides.filter((name) => commandsIn(name).length))(
  'every `runyard` command in docs/%s exists',
  async (name) => {
    for (const command of new Set(commandsIn(name))) {
      const words = command.split(' ');
      // What follows a command are its arguments: at least the first word, and the second of a group, are its name.
      const named = (await helpOf(words)).match(/^Usage: runyard ([a-z][a-z -]*?)(?= \[| <|$)/m)?.[1] ?? '';
      expect(`${command} `.startsWith(`${named} `)).toBe(true);
      expect((await helpOf(named.split(' '))).includes('[command]')).toBe(false);
    }
  },
);

test('the owners’ guide names commands', () =>
  expect(commandsIn('owners-guide.md').length).toBeGreaterThan(3));

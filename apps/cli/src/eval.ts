import { writeFileSync } from 'node:fs';
import { Runyard } from '@runyard/client';
import { parseWith } from '@runyard/contracts';
import { examples, whole } from './command';
import type { CommandLine, Commands } from './command';
import { readConnection, required } from './config';
import { judge } from './evals/judging';
import { comparisonOf, junitOf, passedCount, reportLines, reportSchema } from './evals/report';
import type { Report, Verdict } from './evals/report';
import { readJson, readSuite } from './evals/suite';
import type { Case } from './evals/suite';
import { EXIT } from './terminal';

export const evalCommands: Commands = (program, line) => {
  const group = program
    .command('eval')
    .summary('eval: run, compare')
    .description('Judges runs by a suite of expectations, through the HTTP API.')
    .addHelpText(
      'before',
      examples(
        ['runyard eval run suite.json --json before.json', 'play the suite and keep the report'],
        ['runyard eval run suite.json --junit eval.xml', 'for CI'],
        ['runyard eval compare before.json after.json', 'what a new version of the agent changed'],
      ),
    );
  group
    .command('run <suite>')
    .description('Plays every case and judges it. Exit code 1: a case is not as expected.')
    .option('--json <file>', 'write the report as JSON')
    .option('--junit <file>', 'write the report as JUnit XML')
    .option('--concurrency <n>', 'cases at once', whole, 4)
    .action((file: string, options: RunOptions) => line.run((signal) => run(file, options, line, signal)));
  group
    .command('compare <before> <after>')
    .description('Compares two reports. Exit code 1: a case that was as expected is not any more.')
    .action((before: string, after: string) => line.run(() => compare(before, after, line)));
};

interface RunOptions {
  json?: string;
  junit?: string;
  concurrency: number;
}

async function run(
  file: string,
  options: RunOptions,
  line: CommandLine,
  signal: AbortSignal,
): Promise<number> {
  const { suite, cases } = readSuite(file);
  const connection = readConnection(line.file());
  const client = new Runyard({ url: required(connection, 'api_url'), key: required(connection, 'api_key') });
  let done = 0;
  const verdicts = await inParallel(cases, Math.max(1, options.concurrency), async (one) => {
    const verdict = await judge(client, one, signal);
    line.terminal.progress(`${++done} of ${cases.length} cases`);
    return verdict;
  });
  line.terminal.progress('');
  const report: Report = { format: 'runyard-eval/1', suite, cases: verdicts };
  for (const text of reportLines(report)) line.terminal.out(text);
  if (options.json) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`);
  if (options.junit) writeFileSync(options.junit, junitOf(report));
  return passedCount(report) === cases.length ? EXIT.ok : EXIT.found;
}

/** The verdicts in the order of the cases. The first failure ends it. */
async function inParallel(
  cases: readonly Case[],
  places: number,
  work: (one: Case) => Promise<Verdict>,
): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  const waiting = [...cases.entries()];
  const place = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) verdicts[next[0]] = await work(next[1]);
  };
  await Promise.all(Array.from({ length: places }, place));
  return verdicts;
}

function compare(before: string, after: string, { terminal }: CommandLine): Promise<number> {
  const [old, now] = [before, after].map((file) => parseWith(reportSchema, readJson(file), file));
  if (!old || !now) return Promise.resolve(EXIT.failed);
  const { lines, worse } = comparisonOf(old, now);
  for (const text of lines) terminal.out(text);
  return Promise.resolve(worse === 0 ? EXIT.ok : EXIT.found);
}

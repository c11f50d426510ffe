import { readFileSync } from 'node:fs';
import { Option } from 'commander';
import { RUN_STATES, TRIGGERS } from '@runyard/contracts';
import { Api } from './api';
import { examples } from './command';
import type { CommandLine, Commands } from './command';
import { cancelCommands } from './run-cancel';
import { forkCommand } from './run-fork';
import { fileCommands } from './run-files';
import { EventLines, listing, overview } from './run-views';
import type { Inspection, RunRow } from './run-views';
import { EXIT } from './terminal';

export const runsCommands: Commands = (program, line) => {
  const runs = program
    .command('runs')
    .summary('runs: list, show, follow, start, fork, cancel, export, import …')
    .description('Runs, through the HTTP API with the key of the connection (or RUNYARD_API_KEY).')
    .addHelpText(
      'before',
      examples(
        ['runyard runs list --state failed', 'the newest runs that failed'],
        ['runyard runs start greeter "Hello" --follow', 'start one and watch it'],
        ['runyard runs show run_7f…', 'one run with its steps'],
        ['runyard runs show run_7f… --as-of 4711.0', 'what it was at that position, or time'],
        ['runyard runs fork run_7f… --step 3 --follow', 'go on from its third step, once more'],
        ['runyard runs export run_7f… > run.ndjson', 'its events, one a line'],
        ['runyard runs import run.ndjson', 'look at an exported run, anywhere'],
      ),
    );
  reading(runs, line);
  starting(runs, line);
  forkCommand(runs, line, (api, runId, json, signal) => follow(api, runId, { json }, line, signal));
  controlling(runs, line);
  fileCommands(runs, line);
};

type Group = Parameters<Commands>[0];

const path = (runId: string, part = ''): string => `/v1/runs/${encodeURIComponent(runId)}${part}`;

interface ListOptions {
  agent?: string;
  state?: string;
  trigger?: string;
  conversation?: string;
  from?: string;
  to?: string;
  limit: string;
  json?: boolean;
}

function reading(runs: Group, line: CommandLine): void {
  runs
    .command('list')
    .description('Lists runs, newest first.')
    .option('--agent <id>', 'only of this agent')
    .addOption(new Option('--state <state>', 'only in this state').choices([...RUN_STATES]))
    .addOption(new Option('--trigger <trigger>', 'only with this trigger').choices([...TRIGGERS]))
    .option('--conversation <id>', 'only turns of this conversation')
    .option('--from <time>', 'began at or after (RFC 3339)')
    .option('--to <time>', 'began before (RFC 3339)')
    .option('--limit <n>', 'how many at most', '20')
    .option('--json', 'one JSON object a line')
    .action((options: ListOptions) => line.run(() => list(Api.of(line.file()), options, line)));
  runs
    .command('show <run>')
    .description('Shows a run with its steps, or what its row was at an earlier moment.')
    .option('--as-of <place>', 'as of this position in the log, or this time (RFC 3339)')
    .option('--json', 'the whole inspection as JSON')
    .action((runId: string, options: ShowOptions) =>
      line.run(() => show(Api.of(line.file()), runId, options, line)),
    );
  runs
    .command('follow <run>')
    .description('Watches a run from its beginning to its end. Exit code 1: it did not succeed.')
    .option('--json', 'one event a line')
    .action((runId: string, options: { json?: boolean }) =>
      line.run((signal) => follow(Api.of(line.file()), runId, options, line, signal)),
    );
}

async function list(
  api: Api,
  { json, agent, conversation, ...rest }: ListOptions,
  { terminal }: CommandLine,
): Promise<number> {
  const filters = { ...rest, agent_id: agent, conversation_id: conversation };
  const query = new URLSearchParams(
    Object.entries(filters).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
  const { data } = await api.call<{ data: RunRow[] }>('GET', `/v1/runs?${query.toString()}`);
  if (json) for (const run of data) terminal.out(JSON.stringify(run));
  else for (const text of listing(data)) terminal.out(text);
  if (data.length === 0) terminal.say('There are no such runs');
  return EXIT.ok;
}

interface ShowOptions {
  asOf?: string;
  json?: boolean;
}

async function show(
  api: Api,
  runId: string,
  { json, asOf }: ShowOptions,
  { terminal }: CommandLine,
): Promise<number> {
  const found =
    asOf === undefined
      ? await api.call<Inspection>('GET', path(runId, '/inspect'))
      : await then(api, runId, asOf);
  if (json) terminal.out(JSON.stringify(found));
  else for (const text of overview(found)) terminal.out(text);
  return EXIT.ok;
}

/** A row as of an earlier moment; steps and tree are told as of now alone. */
async function then(api: Api, runId: string, asOf: string): Promise<Inspection> {
  const run = await api.call<RunRow>('GET', path(runId, `?as_of=${encodeURIComponent(asOf)}`));
  return { run, steps: [], tree: [], totals: { runs: 1, total_tokens: run.total_tokens ?? 0 } };
}

async function follow(
  api: Api,
  runId: string,
  { json }: { json?: boolean },
  { terminal }: CommandLine,
  signal: AbortSignal,
): Promise<number> {
  const lines = new EventLines();
  let last = '';
  for await (const event of api.follow(runId, signal)) {
    last = event.type;
    if (json) terminal.out(JSON.stringify(event));
    else for (const text of lines.of(event)) terminal.out(text);
  }
  return last === 'RunSucceeded' ? EXIT.ok : EXIT.found;
}

function starting(runs: Group, line: CommandLine): void {
  runs
    .command('start <agent> <input>')
    .description('Starts a run; input "-" is read from stdin.')
    .option('--conversation <id>', 'as a turn of this conversation')
    .option('--key <key>', 'idempotency key: the same key is the same run, for ever')
    .option('--mode <mode>', 'plan, ask or auto')
    .option('--follow', 'watch it to its end')
    .option('--json', 'print what the API answers')
    .action((agent: string, input: string, options: StartOptions) =>
      line.run((signal) => start(Api.of(line.file()), agent, input, options, line, signal)),
    );
}

interface StartOptions {
  conversation?: string;
  key?: string;
  mode?: string;
  follow?: boolean;
  json?: boolean;
}

async function start(
  api: Api,
  agent: string,
  input: string,
  { conversation, key, mode, ...how }: StartOptions,
  line: CommandLine,
  signal: AbortSignal,
): Promise<number> {
  const text = input === '-' ? readFileSync(0, 'utf8') : input;
  const body = { agent_id: agent, input: text, conversation_id: conversation, mode };
  const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
  const started = await api.call<{ run_id: string }>('POST', '/v1/runs', body, headers);
  line.terminal.out(how.json ? JSON.stringify(started) : started.run_id);
  if (how.follow) return follow(api, started.run_id, how, line, signal);
  line.terminal.say(`Watch it with: runyard runs follow ${started.run_id}`);
  return EXIT.ok;
}

function controlling(runs: Group, line: CommandLine): void {
  cancelCommands(runs, line);
  for (const word of ['pause', 'resume'])
    runs
      .command(`${word} <run>`)
      .description(`${word[0]?.toUpperCase()}${word.slice(1)}s a run; saying it twice is harmless.`)
      .option('--json', 'print what the API answers')
      .action((runId: string, options: { json?: boolean }) =>
        line.run(async () => {
          const answer = await Api.of(line.file()).call<{ state: string }>('POST', path(runId, `/${word}`));
          line.terminal.out(options.json ? JSON.stringify(answer) : `${runId} ${answer.state}`);
          return EXIT.ok;
        }),
      );
}

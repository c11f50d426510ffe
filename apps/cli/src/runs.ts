import { readFileSync } from 'node:fs';
import { Option } from 'commander';
import { MODES, RUN_STATES, TRIGGERS } from '@runyard/contracts';
import type { Body, Query, Runyard } from '@runyard/client';
import { apiOf } from './api';
import { AS_OF, examples, tellAll, whole } from './command';
import type { CommandLine, Commands } from './command';
import { cancelCommands } from './run-cancel';
import { forkCommand } from './run-fork';
import { fileCommands } from './run-files';
import { EventLines, listing, overview } from './run-views';
import type { Inspection, RunEventFrame, RunRow, StepRow } from './run-views';
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

interface ListOptions {
  agent?: string;
  state?: Query<'GET /v1/runs'>['state'];
  trigger?: Query<'GET /v1/runs'>['trigger'];
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
    .action((options: ListOptions) => line.run(() => list(apiOf(line.file()), options, line)));
  runs
    .command('show <run>')
    .description('Shows a run with its steps, or what its row was at an earlier moment.')
    .option(...AS_OF)
    .option('--json', 'the whole inspection as JSON')
    .action((runId: string, options: ShowOptions) =>
      line.run(() => show(apiOf(line.file()), runId, options, line)),
    );
  runs
    .command('follow <run>')
    .description('Watches a run from its beginning to its end. Exit code 1: it did not succeed.')
    .option('--json', 'one event a line')
    .action((runId: string, options: { json?: boolean }) =>
      line.run((signal) => follow(apiOf(line.file()), runId, options, line, signal)),
    );
}

async function list(
  api: Runyard,
  { json, agent, conversation, limit, ...rest }: ListOptions,
  { terminal }: CommandLine,
): Promise<number> {
  const query = { ...rest, limit: whole(limit), agent_id: agent, conversation_id: conversation };
  const { data } = await api.call('GET /v1/runs', { query });
  return tellAll(terminal, data, { json, lines: listing, none: 'There are no such runs' });
}

interface ShowOptions {
  asOf?: string;
  json?: boolean;
}

async function show(
  api: Runyard,
  runId: string,
  { json, asOf }: ShowOptions,
  { terminal }: CommandLine,
): Promise<number> {
  const found = await (asOf === undefined ? now(api, runId) : then(api, runId, asOf));
  if (json) terminal.out(JSON.stringify(found));
  else for (const text of overview(found)) terminal.out(text);
  return EXIT.ok;
}

async function now(api: Runyard, runId: string): Promise<Inspection> {
  const found = await api.runs.inspect(runId);
  return { ...found, steps: found.steps as StepRow[], tree: found.tree as Inspection['tree'] };
}

/** A row as of an earlier moment; steps and tree are told as of now alone. */
async function then(api: Runyard, runId: string, asOf: string): Promise<Inspection> {
  const path = { run_id: runId };
  const run: RunRow = await api.call('GET /v1/runs/{run_id}', { path, query: { as_of: asOf } });
  return { run, steps: [], tree: [], totals: { runs: 1, total_tokens: run.total_tokens ?? 0 } };
}

async function follow(
  api: Runyard,
  runId: string,
  { json }: { json?: boolean },
  { terminal }: CommandLine,
  signal: AbortSignal,
): Promise<number> {
  const lines = new EventLines();
  let last = '';
  for await (const { cursor: _cursor, ...event } of api.runs.stream(runId, { signal })) {
    last = event.type;
    if (json) terminal.out(JSON.stringify(event));
    else for (const text of lines.of(event as RunEventFrame)) terminal.out(text);
  }
  return last === 'RunSucceeded' ? EXIT.ok : EXIT.found;
}

function starting(runs: Group, line: CommandLine): void {
  runs
    .command('start <agent> <input>')
    .description('Starts a run; input "-" is read from stdin.')
    .option('--conversation <id>', 'as a turn of this conversation')
    .option('--key <key>', 'idempotency key: the same key is the same run, for ever')
    .addOption(new Option('--mode <mode>', 'plan, ask or auto').choices([...MODES]))
    .option('--follow', 'watch it to its end')
    .option('--json', 'print what the API answers')
    .action((agent: string, input: string, options: StartOptions) =>
      line.run((signal) => start(apiOf(line.file()), agent, input, options, line, signal)),
    );
}

interface StartOptions {
  conversation?: string;
  key?: string;
  mode?: Body<'POST /v1/runs'>['mode'];
  follow?: boolean;
  json?: boolean;
}

async function start(
  api: Runyard,
  agent: string,
  input: string,
  { conversation, key, mode, ...how }: StartOptions,
  line: CommandLine,
  signal: AbortSignal,
): Promise<number> {
  const text = input === '-' ? readFileSync(0, 'utf8') : input;
  const body = { agent_id: agent, input: text, conversation_id: conversation, mode };
  const started = await api.runs.start(body, { idempotencyKey: key });
  line.terminal.out(how.json ? JSON.stringify(started) : started.run_id);
  if (how.follow) return follow(api, started.run_id, how, line, signal);
  line.terminal.say(`Watch it with: runyard runs follow ${started.run_id}`);
  return EXIT.ok;
}

function controlling(runs: Group, line: CommandLine): void {
  cancelCommands(runs, line);
  for (const word of ['pause', 'resume'] as const)
    runs
      .command(`${word} <run>`)
      .description(`${word[0]?.toUpperCase()}${word.slice(1)}s a run; saying it twice is harmless.`)
      .option('--json', 'print what the API answers')
      .action((runId: string, options: { json?: boolean }) =>
        line.run(async () => {
          const answer = await apiOf(line.file()).runs[word](runId);
          line.terminal.out(options.json ? JSON.stringify(answer) : `${runId} ${answer.state}`);
          return EXIT.ok;
        }),
      );
}

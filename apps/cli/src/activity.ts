import { setTimeout as wait } from 'node:timers/promises';
import { ACTIVITY_TOPICS } from '@runyard/contracts';
import type { ActivityRow, ActivityTopic } from '@runyard/contracts';
import { Option } from 'commander';
import type { Runyard } from '@runyard/client';
import { apiOf } from './api';
import { examples, tellAll, whole } from './command';
import type { Commands } from './command';
import { table } from './terminal';
import type { Terminal } from './terminal';

/** Between two questions of `--follow`. */
const LOOK_MS = 1_000;
/** Entries of several streams come a moment apart: each question looks back this far, and says nothing twice. */
const OVERLAP_MS = 30_000;
const PAGE = '200';

interface Options {
  topic?: ActivityTopic;
  kind?: string;
  agent?: string;
  run?: string;
  task?: string;
  actor?: string;
  from?: string;
  to?: string;
  limit: string;
  follow?: boolean;
  json?: boolean;
}

export const activityCommands: Commands = (program, line) => {
  program
    .command('activity')
    .summary('activity: what happened, newest first')
    .description(
      'What happened: starts, ends, decisions, controls, locks, board, agents. Newest first; with --follow as it comes.',
    )
    .addOption(new Option('--topic <topic>', 'only of this topic').choices([...ACTIVITY_TOPICS]))
    .option('--kind <kind>', 'only of this kind, for example run.failed')
    .option('--agent <id>', 'only about this agent')
    .option('--run <id>', 'only about this run')
    .option('--task <id>', 'only about this task')
    .option('--actor <actor>', 'only by user:<uuid>, service:<key id> or system:<part>')
    .option('--from <time>', 'at or after (RFC 3339)')
    .option('--to <time>', 'before (RFC 3339)')
    .option('--limit <n>', 'how many at most', '20')
    .option('--follow', 'go on with what comes, oldest first, until Ctrl-C')
    .option('--json', 'one JSON object a line')
    .addHelpText(
      'before',
      examples(
        ['runyard activity', 'what happened last'],
        ['runyard activity --topic decisions --agent clerk', 'who decided what about an agent'],
        ['runyard activity --kind run.failed --from 2026-11-30T00:00:00Z', 'what failed since then'],
        ['runyard activity --follow', 'watch'],
      ),
    )
    .action((options: Options) =>
      line.run((signal) => show(apiOf(line.file()), options, line.terminal, signal)),
    );
};

const keyOf = ({ stream, position }: ActivityRow): string => `${stream} ${position}`;

async function show(
  api: Runyard,
  options: Options,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  const { json, follow } = options;
  const entries = await read(api, options);
  if (follow) return goOn(api, options, entries.toReversed(), terminal, signal);
  return tellAll(terminal, entries, { json, lines: listing, none: 'Nothing of the kind happened' });
}

async function read(api: Runyard, options: Options): Promise<ActivityRow[]> {
  const { topic, kind, agent, run, task, actor, from, to, limit } = options;
  const about = { agent_id: agent, run_id: run, task_id: task };
  const query = { topic, kind, ...about, actor, from, to, limit: whole(limit) };
  return (await api.call('GET /v1/activity', { query })).data;
}

async function goOn(
  api: Runyard,
  options: Options,
  first: readonly ActivityRow[],
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  const said = new Set<string>();
  let newest = options.from ?? new Date(Date.now() - OVERLAP_MS).toISOString();
  const say = (entries: readonly ActivityRow[]) => {
    for (const entry of entries) {
      if (said.has(keyOf(entry))) continue;
      said.add(keyOf(entry));
      if (entry.time > newest) newest = entry.time;
      terminal.out(options.json ? JSON.stringify(entry) : lineOf(entry));
    }
  };
  say(first);
  for (;;) {
    await wait(LOOK_MS, undefined, { signal });
    const from = new Date(Date.parse(newest) - OVERLAP_MS).toISOString();
    say((await read(api, { ...options, from, limit: PAGE })).toReversed());
  }
}

const second = (time: string): string => time.slice(0, 19).replace('T', ' ');
const nameOf = ({ subject }: ActivityRow): string => `${subject.kind} ${subject.id}`;
const lineOf = (entry: ActivityRow): string =>
  `${second(entry.time)}  ${entry.actor}  ${nameOf(entry)}  ${entry.summary}`;

function listing(entries: readonly ActivityRow[]): string[] {
  if (entries.length === 0) return [];
  const head = ['time (UTC)', 'who', 'about', 'what'];
  return table(
    head,
    entries.map((entry) => [second(entry.time), entry.actor, nameOf(entry), entry.summary]),
  );
}

import { setTimeout as wait } from 'node:timers/promises';
import { Option } from 'commander';
import type { Body, BulkAction, Runyard } from '@runyard/client';
import { BULK_KINDS, RUN_STATES, TRIGGERS } from '@runyard/contracts';
import type { BulkKind } from '@runyard/contracts';
import { apiOf } from './api';
import { looking, report } from './bulk-looking';
import { examples } from './command';
import type { CommandLine, Commands } from './command';
import { ProgressBar } from './progress-bar';
import { confirm, EXIT } from './terminal';

type Group = Parameters<Commands>[0];
type Filter = Body<'POST /v1/bulk-actions'>['filter'];

const EVERY_MS = 250;

/** The same thing done to every run that a filter finds. */
export const bulkCommands: Commands = (program, line) => {
  const bulk = program
    .command('bulk')
    .summary('many runs at once: cancel, pause, resume, retry; show, results, abort')
    .description('Does the same thing to every run that a filter finds, through the HTTP API.')
    .addHelpText(
      'before',
      examples(
        ['runyard bulk cancel --agent clerk --dry-run', 'how many it would be, and which'],
        ['runyard bulk cancel --agent clerk --state queued', 'cancel them, and see what became of each'],
        ['runyard bulk retry --from 2026-11-30T08:00:00Z', 'try again what failed since then'],
        ['runyard bulk abort blk_7f…', 'begin no further run'],
      ),
    );
  for (const kind of BULK_KINDS) doing(bulk, kind, line);
  looking(bulk, line);
};

interface DoOptions {
  agent?: string;
  state?: Filter['state'];
  trigger?: Filter['trigger'];
  conversation?: string;
  user?: string;
  of?: string;
  from?: string;
  to?: string;
  dryRun?: boolean;
  yes?: boolean;
  wait: boolean;
  key?: string;
  json?: boolean;
}

const DOES: Readonly<Record<BulkKind, string>> = {
  cancel: 'Cancels every unfinished run that the filter finds.',
  pause: 'Pauses every unfinished run that the filter finds.',
  resume: 'Resumes every paused run that the filter finds.',
  retry: 'Tries every run again that the filter finds and that failed or was cancelled: as a new run each.',
};

function doing(bulk: Group, kind: BulkKind, line: CommandLine): void {
  bulk
    .command(kind)
    .description(`${DOES[kind]} Exit code 1: some were refused, or it was aborted.`)
    .option('--agent <id>', 'only of this agent')
    .addOption(new Option('--state <state>', 'only in this state').choices([...RUN_STATES]))
    .addOption(new Option('--trigger <trigger>', 'only with this trigger').choices([...TRIGGERS]))
    .option('--conversation <id>', 'only turns of this conversation')
    .option('--user <id>', 'only on behalf of this user')
    .option('--of <bulk action>', 'only those that this bulk action was about')
    .option('--from <time>', 'began at or after (RFC 3339)')
    .option('--to <time>', 'began before (RFC 3339)')
    .option('--dry-run', 'say how many it would be, and do nothing')
    .option('--yes', 'do not ask')
    .option('--key <key>', 'idempotency key: the same key is the same action')
    .option('--no-wait', 'print its id and leave it to itself')
    .option('--json', 'results as JSON, one a line')
    .action((options: DoOptions) =>
      line.run((signal) => carryOut(apiOf(line.file()), kind, options, line, signal)),
    );
}

const filterOf = ({ agent, conversation, user, of, state, trigger, from, to }: DoOptions): Filter => ({
  ...(agent !== undefined && { agent_id: agent }),
  ...(conversation !== undefined && { conversation_id: conversation }),
  ...(user !== undefined && { user_id: user }),
  ...(of !== undefined && { bulk_action_id: of }),
  ...(state !== undefined && { state }),
  ...(trigger !== undefined && { trigger }),
  ...(from !== undefined && { from }),
  ...(to !== undefined && { to }),
});

async function carryOut(
  api: Runyard,
  action: BulkKind,
  options: DoOptions,
  { terminal }: CommandLine,
  signal: AbortSignal,
): Promise<number> {
  const filter = filterOf(options);
  const preview = await api.call('POST /v1/bulk-actions', { body: { action, filter, preview: true } });
  if ('count' in preview && (options.dryRun || !options.yes)) {
    const { count, sample } = preview;
    terminal.say(`${action}: ${count} ${count === 1 ? 'run' : 'runs'}${count > 0 ? ', the newest are' : ''}`);
    for (const runId of sample) terminal.out(runId);
    if (options.dryRun || count === 0) return EXIT.ok;
    await confirm(terminal, `This will ${action} all of them.`, action, options.yes);
  }
  const how = options.key === undefined ? {} : { idempotencyKey: options.key };
  const started = await api.call('POST /v1/bulk-actions', { body: { action, filter }, ...how });
  if (!('bulk_action_id' in started)) return EXIT.failed;
  if (!options.wait) {
    terminal.out(started.bulk_action_id);
    terminal.say(`See how far it is with: runyard bulk show ${started.bulk_action_id}`);
    return EXIT.ok;
  }
  return report(api, await ended(api, started, terminal, signal), options.json, terminal);
}

/** Watches it to its end. Ctrl-C ends the watching alone. */
async function ended(
  api: Runyard,
  started: BulkAction,
  terminal: CommandLine['terminal'],
  signal: AbortSignal,
): Promise<BulkAction> {
  terminal.say(`${started.bulk_action_id} goes on by itself; runyard bulk abort ends it early`);
  let action = started;
  let bar: ProgressBar | undefined;
  while (action.ended_at === null) {
    await wait(EVERY_MS, undefined, { signal });
    action = await api.call('GET /v1/bulk-actions/{bulk_action_id}', {
      path: { bulk_action_id: started.bulk_action_id },
    });
    if (action.chosen) bar ??= new ProgressBar(terminal, action.action, 0, action.runs);
    bar?.show(action.handled);
  }
  bar?.end();
  return action;
}

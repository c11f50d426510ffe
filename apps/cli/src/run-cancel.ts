import { setTimeout as wait } from 'node:timers/promises';
import type { Cancellation, Runyard } from '@runyard/client';
import { apiOf } from './api';
import type { CommandLine, Commands } from './command';
import { CommandFailed, EXIT } from './terminal';

type Group = Parameters<Commands>[0];

const EVERY_MS = 200;
const WAIT_SECONDS = 15;

/** `runs cancel`, which waits for the receipt, and `runs receipt`, which reads it later. */
export function cancelCommands(runs: Group, line: CommandLine): void {
  runs
    .command('cancel <run>')
    .description(
      'Cancels a run and all below it, and says what that came to; saying it twice is harmless. Many at once: runyard bulk cancel.',
    )
    .option('--json', 'print what the API answers')
    .option('--wait <seconds>', 'how long to wait until all is quiet; 0: not at all', String(WAIT_SECONDS))
    .action((runId: string, options: { json?: boolean; wait: string }) =>
      line.run(() => cancel(apiOf(line.file()), runId, options, line)),
    );
  runs
    .command('receipt <run>')
    .description('Shows what a cancel came to. Exit code 1: not all of it is confirmed.')
    .option('--json', 'print what the API answers')
    .action((runId: string, options: { json?: boolean }) =>
      line.run(async () => {
        const receipt = await receiptOf(apiOf(line.file()), runId);
        const lines = options.json ? [JSON.stringify(receipt)] : receiptLines(receipt);
        for (const text of lines) line.terminal.out(text);
        return receipt.confirmed ? EXIT.ok : EXIT.found;
      }),
    );
}

const receiptOf = (api: Runyard, run_id: string): Promise<Cancellation> =>
  api.call('GET /v1/runs/{run_id}/cancellation', { path: { run_id } });

async function cancel(
  api: Runyard,
  runId: string,
  options: { json?: boolean; wait: string },
  { terminal }: CommandLine,
): Promise<number> {
  const seconds = Number(options.wait);
  if (!(seconds >= 0)) throw new CommandFailed('--wait takes a number of seconds');
  const answer = await api.runs.cancel(runId);
  const until = performance.now() + seconds * 1_000;
  let receipt = seconds > 0 ? await receiptOf(api, runId) : undefined;
  while (receipt && !receipt.confirmed && performance.now() < until) {
    await wait(EVERY_MS);
    receipt = await receiptOf(api, runId);
  }
  const state = receipt?.confirmed ? receipt.runs[0]?.state : answer.state;
  terminal.out(options.json ? JSON.stringify(answer) : `${runId} ${state ?? answer.state}`);
  if (receipt) for (const text of receiptLines(receipt)) terminal.say(text);
  return EXIT.ok;
}

/** The receipt for people: what stopped where, when all was quiet, and what it still cost. */
export function receiptLines(receipt: Cancellation): string[] {
  if (receipt.requested_at === null) return ['Nobody has asked this run to be cancelled'];
  const runs = receipt.runs.map((run) => {
    const stopped = run.stopped.map(
      ({ kind, name, outcome }) => `${kind.replace('_', ' ')} ${name} ${outcome}`,
    );
    const unsent = run.calls_not_sent > 0 ? [`${run.calls_not_sent} calls not sent`] : [];
    const what = [...stopped, ...unsent].join(', ') || 'nothing was under way';
    return `${run.run_id}  ${run.agent_id ?? 'not born'}  ${run.state}: ${what}; ${run.tokens_after_request} tokens after the request`;
  });
  const quiet = receipt.quiet_at
    ? `quiet since ${receipt.quiet_at}`
    : `not confirmed: ${receipt.unconfirmed.join(', ') || 'a part of the tree that is not listed'}`;
  return [
    `asked ${receipt.requested_at} by ${receipt.requested_by ?? ''}`,
    ...runs,
    `${quiet}; ${receipt.tokens_after_request} tokens were spent after the request`,
  ];
}

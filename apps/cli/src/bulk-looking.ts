import { Listing } from '@runyard/client';
import type { BulkAction, BulkResult, Runyard } from '@runyard/client';
import { apiOf } from './api';
import { actionLine, resultTable, summaryOf } from './bulk-views';
import { tellAll, tellOne, whole } from './command';
import type { CommandLine, Commands } from './command';
import { EXIT } from './terminal';
import type { Terminal } from './terminal';

type Group = Parameters<Commands>[0];

const PAGE = 200;

/** What became of each run; exit code 1 where some were refused, or not all were told. */
export async function report(
  api: Runyard,
  action: BulkAction,
  json: boolean | undefined,
  terminal: Terminal,
): Promise<number> {
  const results = await resultsOf(api, action.bulk_action_id);
  for (const text of json ? results.map((one) => JSON.stringify(one)) : resultTable(results))
    terminal.out(text);
  terminal.say(summaryOf(action));
  return action.state === 'completed' && action.outcomes.refused === 0 ? EXIT.ok : EXIT.found;
}

const resultsOf = (api: Runyard, bulk_action_id: string): Promise<BulkResult[]> =>
  new Listing((cursor) =>
    api.call('GET /v1/bulk-actions/{bulk_action_id}/results', {
      path: { bulk_action_id },
      query: { limit: PAGE, ...(cursor !== undefined && { cursor }) },
    }),
  ).all();

interface LookOptions {
  limit: string;
  json?: boolean;
}

/** Commands that look at bulk actions, or end them. */
export function looking(bulk: Group, line: CommandLine): void {
  listing(bulk, line);
  for (const [word, does, work] of NAMED)
    bulk
      .command(`${word} <action>`)
      .description(does)
      .option('--json', 'print what the API answers')
      .action((id: string, { json }: LookOptions) =>
        line.run(() => work(apiOf(line.file()), id, json, line.terminal)),
      );
}

type Work = (api: Runyard, id: string, json: boolean | undefined, terminal: Terminal) => Promise<number>;

const say = (action: BulkAction, json: boolean | undefined, terminal: Terminal): number =>
  tellOne(terminal, action, json, (shown) => [actionLine(shown)]);

const read = (api: Runyard, bulk_action_id: string): Promise<BulkAction> =>
  api.call('GET /v1/bulk-actions/{bulk_action_id}', { path: { bulk_action_id } });
const abort = (api: Runyard, bulk_action_id: string): Promise<BulkAction> =>
  api.call('POST /v1/bulk-actions/{bulk_action_id}/abort', { path: { bulk_action_id } });

const NAMED: readonly (readonly [word: string, does: string, work: Work])[] = [
  [
    'show',
    'Says how far a bulk action is.',
    async (api, id, json, terminal) => say(await read(api, id), json, terminal),
  ],
  [
    'results',
    'Shows what became of each of its runs. Exit code 1: some were refused, or not all were told.',
    async (api, id, json, terminal) => report(api, await read(api, id), json, terminal),
  ],
  [
    'abort',
    'Begins no further run; those that are being told are finished.',
    async (api, id, json, terminal) => say(await abort(api, id), json, terminal),
  ],
];

function listing(bulk: Group, line: CommandLine): void {
  bulk
    .command('list')
    .description("Lists bulk actions, newest first: one's own, or with an admin's key all of the org.")
    .option('--limit <n>', 'how many at most', '20')
    .option('--json', 'one JSON object a line')
    .action(({ limit, json }: LookOptions) =>
      line.run(async () => {
        const { data } = await apiOf(line.file()).call('GET /v1/bulk-actions', {
          query: { limit: whole(limit) },
        });
        return tellAll(line.terminal, data, {
          json,
          lines: (actions) => actions.map(actionLine),
          none: 'There are no bulk actions',
        });
      }),
    );
}

import type { Budget, Runyard } from '@runyard/client';
import { apiOf } from './api';
import { AS_OF, examples, factLines, tellAll, tellOne, whole } from './command';
import type { Commands } from './command';
import { table } from './terminal';
import type { Terminal } from './terminal';

interface Options {
  week?: string;
  asOf?: string;
  limit: string;
  json?: boolean;
}

export const budgetsCommands: Commands = (program, line) => {
  const budgets = program
    .command('budgets')
    .summary('budgets: list, show')
    .description('How weeks of owners stand, through the HTTP API with the key of the connection.')
    .addHelpText(
      'before',
      examples(
        ['runyard budgets list', 'running weeks of all owners'],
        ['runyard budgets show 7f…-uuid --week 2026-11-22', 'an earlier week of one'],
        ['runyard budgets list --as-of 2026-11-27T12:00:00Z', 'how weeks stood then'],
      ),
    );
  budgets
    .command('list')
    .description('Lists the running weeks of owners, or those of a given week.')
    .option('--week <date>', 'the week of this Sunday')
    .option(...AS_OF)
    .option('--limit <n>', 'how many at most', '50')
    .option('--json', 'one JSON object a line')
    .action((options: Options) => line.run(() => list(apiOf(line.file()), options, line.terminal)));
  budgets
    .command('show <owner>')
    .description('Shows how the running week of an owner stands, or another one.')
    .option('--week <date>', 'the week of this Sunday')
    .option(...AS_OF)
    .option('--json', 'as JSON')
    .action((owner: string, options: Options) =>
      line.run(() => show(apiOf(line.file()), owner, options, line.terminal)),
    );
};

async function list(api: Runyard, { limit, json, week, asOf }: Options, terminal: Terminal): Promise<number> {
  const query = { limit: whole(limit), week, as_of: asOf };
  const { data } = await api.call('GET /v1/budgets', { query });
  return tellAll(terminal, data, { json, lines: listing, none: 'There are no such weeks' });
}

const listing = (budgets: readonly Budget[]): string[] =>
  table(
    ['owner', 'week', 'state', 'cap', 'settled', 'reserved', 'left'],
    budgets.map((one) => [
      one.owner_id,
      one.week,
      one.state,
      one.cap ?? 'none',
      one.settled,
      one.reserved,
      one.left ?? '',
    ]),
  );

async function show(
  api: Runyard,
  owner: string,
  { json, week, asOf }: Options,
  terminal: Terminal,
): Promise<number> {
  const path = { owner_id: owner };
  const budget = await api.call('GET /v1/budgets/{owner_id}', { path, query: { week, as_of: asOf } });
  return tellOne(terminal, budget, json, overview);
}

const overview = (budget: Budget): string[] =>
  factLines([
    ['owner', budget.owner_id],
    [
      'week',
      `${budget.week}, ${budget.state}: ${budget.starts_at} → ${budget.ends_at} (${budget.time_zone})`,
    ],
    ['cap', budget.cap],
    ['settled', budget.settled],
    ['reserved', budget.reserved],
    ['left', budget.left],
  ]);

import { z } from 'zod';
import { listOf, named, pageOf } from './rows';

// Shapes of what the budget ledger answers, for the API description.

const count = z.int().min(0);
const text = z.string();
const time = z.iso.datetime({ offset: true });
const money = z.looseObject({
  currency: text,
  amount: text.describe('Decimal text; derived from dated prices'),
});

export const capRow = named(
  'Cap',
  z.looseObject({
    owner_id: z.uuid().nullable().describe('null: the default of the organization'),
    tokens: count.nullable().describe('Tokens a week; null: no cap'),
    source: z.enum(['owner', 'default']),
    etag: text.describe('Send it as If-Match with the next change'),
  }),
);
export const capPage = pageOf('CapPage', capRow);

export const budgetRow = named(
  'Budget',
  z.looseObject({
    owner_id: z.uuid(),
    week: z.iso.date().describe('The date of its Sunday'),
    starts_at: time,
    ends_at: time,
    time_zone: text,
    state: z.enum(['open', 'closed']),
    cap: count.nullable(),
    settled: count.describe('Tokens of runs that ended in the week, with all that they delegated'),
    reserved: count.describe('Tokens that unfinished runs hold'),
    left: z.int().nullable().describe('null where no cap applies'),
  }),
);
export const budgetPage = pageOf('BudgetPage', budgetRow);

export const forecastList = listOf(
  'ForecastList',
  named(
    'Forecast',
    budgetRow.extend({
      tokens_per_day: count.describe('Mean of the last seven days'),
      expected: count.describe('Settled at the end of the week if that goes on'),
      cap_reached_at: time.nullable(),
    }),
  ),
);

const spendRow = named(
  'Spend',
  z.looseObject({
    owner_id: z.uuid().optional(),
    agent_id: text.optional(),
    model_id: text.optional(),
    tier: text.optional(),
    day: z.iso.date().optional(),
    week: z.iso.date().optional(),
    runs: count,
    calls: count,
    input_tokens: count,
    output_tokens: count,
    cached_tokens: count.describe('Part of input_tokens'),
    total_tokens: count,
    estimated_tokens: count.describe('Part of total_tokens that no provider reported'),
    money: z.array(money),
    unpriced_tokens: count.describe('Part of total_tokens that had no price'),
  }),
);
export const spendReport = named(
  'SpendReport',
  z.looseObject({
    data: z.array(spendRow),
    prices: z
      .array(
        z.looseObject({
          model_id: text,
          currency: text,
          input: text,
          output: text,
          cached: text,
          valid_from: time,
        }),
      )
      .describe('The prices that were used, per million tokens'),
  }),
);

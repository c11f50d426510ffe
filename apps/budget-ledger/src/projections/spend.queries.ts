import type { Money, SpendGroup, SpendReport, SpendRow, UsedPrice } from '@runyard/contracts';
import { toSafeInteger } from '@runyard/persistence';
import type { Tx } from '@runyard/persistence';

/** Which lines are added up; null: all. Dates are the owner's week's days. */
export interface SpendFilter {
  from: string | null;
  to: string | null;
  ownerId: string | null;
  agentId: string | null;
  modelId: string | null;
}

/** Rows of one report; more than that is no report. */
export const MOST_ROWS = 10_000;

const COLUMN_OF: Readonly<Record<SpendGroup, string>> = {
  owner: 'owner_id',
  agent: 'agent_id',
  model: 'model_id',
  tier: 'tier',
  day: 'day',
  week: 'week',
};

/** Money is derived here and nowhere stored: each line at the price that held when its root run ended. */
const PRICED = `
  SELECT l.*, p.currency, p.valid_from, p.input AS price_input, p.output AS price_output, p.cached AS price_cached,
    ((l.input_tokens - l.cached_tokens) * p.input + l.cached_tokens * p.cached + l.output_tokens * p.output) / 1000000 AS amount
  FROM spend_lines l LEFT JOIN LATERAL (
    SELECT * FROM model_prices m WHERE m.org_id = l.org_id AND m.model_id = l.model_id AND m.valid_from <= l.ended_at
    ORDER BY m.valid_from DESC LIMIT 1) p ON true
  WHERE ($1::date IS NULL OR l.day >= $1) AND ($2::date IS NULL OR l.day < $2) AND ($3::uuid IS NULL OR l.owner_id = $3)
    AND ($4::text IS NULL OR l.agent_id = $4) AND ($5::text IS NULL OR l.model_id = $5)`;

interface SumRead {
  key: string[];
  runs: bigint;
  calls: bigint;
  input: string;
  output: string;
  cached: string;
  estimated: string;
  unpriced: string;
}
type MoneyRead = Money & { key: string[] };

/** Spend added up by groups, in their order, with the prices that were used. */
export async function spendReport(
  tx: Tx,
  groups: readonly SpendGroup[],
  filter: SpendFilter,
): Promise<SpendReport> {
  const params = [filter.from, filter.to, filter.ownerId, filter.agentId, filter.modelId];
  const key = `ARRAY[${groups.map((group) => `${COLUMN_OF[group]}::text`).join(', ')}]::text[]`;
  const sums = await tx.query<SumRead>(
    `WITH priced AS (${PRICED})
     SELECT ${key} AS key, count(DISTINCT run_id) AS runs, coalesce(sum(calls), 0)::bigint AS calls, coalesce(sum(input_tokens), 0) AS input,
       coalesce(sum(output_tokens), 0) AS output, coalesce(sum(cached_tokens), 0) AS cached, coalesce(sum(estimated_tokens), 0) AS estimated,
       coalesce(sum(input_tokens + output_tokens) FILTER (WHERE currency IS NULL), 0) AS unpriced
     FROM priced GROUP BY 1 ORDER BY 1 LIMIT ${MOST_ROWS + 1}`,
    params,
  );
  const money = await tx.query<MoneyRead>(
    `WITH priced AS (${PRICED})
     SELECT ${key} AS key, currency, trim_scale(sum(amount))::text AS amount
     FROM priced WHERE currency IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2`,
    params,
  );
  const prices = await tx.query<UsedPrice>(
    `WITH priced AS (${PRICED})
     SELECT DISTINCT model_id, currency, price_input::text AS input, price_output::text AS output, price_cached::text AS cached,
       to_char(valid_from AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS valid_from
     FROM priced WHERE currency IS NOT NULL ORDER BY model_id, valid_from`,
    params,
  );
  return { data: sums.map((sum) => rowOf(sum, groups, money)), prices };
}

function rowOf(sum: SumRead, groups: readonly SpendGroup[], money: readonly MoneyRead[]): SpendRow {
  const same = JSON.stringify(sum.key);
  const input = toSafeInteger(sum.input);
  const output = toSafeInteger(sum.output);
  return {
    ...Object.fromEntries(groups.map((group, index) => [COLUMN_OF[group], sum.key[index]])),
    runs: toSafeInteger(sum.runs),
    calls: toSafeInteger(sum.calls),
    input_tokens: input,
    output_tokens: output,
    cached_tokens: toSafeInteger(sum.cached),
    total_tokens: input + output,
    estimated_tokens: toSafeInteger(sum.estimated),
    money: money
      .filter((one) => JSON.stringify(one.key) === same)
      .map(({ currency, amount }) => ({ currency, amount })),
    unpriced_tokens: toSafeInteger(sum.unpriced),
  };
}

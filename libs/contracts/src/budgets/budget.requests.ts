import { z } from 'zod';
import { asOfSchema, pageSchema, positionSchema, rowId } from '../agents/agent.requests';
import { dateSchema } from '../storable';

// RPC of the budget ledger, service `budget-ledger`.

const owner = z.uuid('must be the id of a user');
/** Largest number of tokens that anything is counted in. */
export const MOST_TOKENS = 1_000_000_000_000_000;
const tokens = z
  .int('must be a whole number')
  .min(0, 'must be at least 0')
  .max(MOST_TOKENS, `must be at most ${MOST_TOKENS}`);
const date = dateSchema();
const run = { run_id: rowId('run id'), owner_id: owner };

/** `smallest`: with less than this the run could not even begin. */
export const reserveSchema = z.strictObject({ ...run, tokens, smallest: tokens });
/** `tokens`: what the run is to hold in all; `reason` says why it changes, `at` from which place in the run's log that follows. */
export const changeReservationSchema = z.strictObject({
  ...run,
  tokens,
  reason: z.enum(['extended', 'parked', 'woken']),
  at: z.int().min(0).optional(),
});
export const releaseSchema = z.strictObject(run);

/** What became of a wish to reserve. `closed`: the run was settled or released before; it never holds anything again. */
export interface ReserveAnswer {
  outcome: 'granted' | 'refused' | 'closed';
  /** What the run holds; 0 where nothing was granted. */
  tokens: number;
  /** The weekly cap gave less than was asked for. */
  cut: boolean;
  /** What the owner's week has left, this reservation included; null where no cap applies. */
  weekly_left: number | null;
  week: string;
}

const etag = z.string().regex(/^\d{1,9}$/, 'must be an etag as a read or write answered it');
/** Without `owner_id` the org's default. `tokens: null`: no cap. */
export const setCapSchema = z.strictObject({
  owner_id: owner.optional(),
  tokens: tokens.nullable(),
  if_match: etag.optional(),
});
export const clearCapSchema = z.strictObject({ owner_id: owner, if_match: etag.optional() });
export const getCapSchema = z.strictObject({ owner_id: owner.optional() });
export const listCapsSchema = z.strictObject(pageSchema);

export interface CapRow {
  /** Null: the org's default. */
  owner_id: string | null;
  /** Null: no cap. */
  tokens: number | null;
  /** Where an owner's cap comes from. */
  source: 'owner' | 'default';
  etag: string;
}

export const getBudgetSchema = z.strictObject({
  owner_id: owner.optional(),
  week: date.optional(),
  as_of: asOfSchema.optional(),
});
export const listBudgetsSchema = z.strictObject({
  ...pageSchema,
  week: date.optional(),
  at_least: positionSchema.optional(),
  as_of: asOfSchema.optional(),
});

/** How an owner's week stands. */
export interface BudgetRow {
  owner_id: string;
  week: string;
  starts_at: string;
  ends_at: string;
  time_zone: string;
  state: 'open' | 'closed';
  cap: number | null;
  settled: number;
  reserved: number;
  /** Null where no cap applies; negative where a cap was lowered, or a provider counted more than was granted. */
  left: number | null;
}

export const SPEND_GROUPS = ['owner', 'agent', 'model', 'tier', 'day', 'week'] as const;
export type SpendGroup = (typeof SPEND_GROUPS)[number];

/** Which spend is summed: `from` belongs to it, `to` does not; dates in the org's zone. */
export const spendSchema = z.strictObject({
  group_by: z
    .array(z.enum(SPEND_GROUPS, `must be one of ${SPEND_GROUPS.join(', ')}`))
    .max(SPEND_GROUPS.length, 'must name each group once')
    .refine((groups) => new Set(groups).size === groups.length, 'must name each group once')
    .default([]),
  from: date.optional(),
  to: date.optional(),
  owner_id: owner.optional(),
  agent_id: rowId('agent id').optional(),
  model_id: rowId('model id').optional(),
  at_least: positionSchema.optional(),
});

/** A sum of money of one currency, decimal text. */
export interface Money {
  currency: string;
  amount: string;
}

export interface SpendRow {
  owner_id?: string;
  agent_id?: string;
  model_id?: string;
  tier?: string;
  day?: string;
  week?: string;
  runs: number;
  calls: number;
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  total_tokens: number;
  /** Part of the total that no provider reported. */
  estimated_tokens: number;
  /** Derived from the prices that held when the root run ended; never stored. */
  money: Money[];
  /** Part of the total that had no price. */
  unpriced_tokens: number;
}

/** A price that a report used, per million tokens. */
export interface UsedPrice {
  model_id: string;
  currency: string;
  input: string;
  output: string;
  cached: string;
  valid_from: string;
}

export interface SpendReport {
  data: SpendRow[];
  prices: UsedPrice[];
}

export const forecastSchema = z.strictObject({ owner_id: owner.optional() });

/** Where an owner's running week is heading. */
export interface ForecastRow extends BudgetRow {
  /** Tokens a day, mean of the last seven days. */
  tokens_per_day: number;
  /** Settled at the week's end if that goes on. */
  expected: number;
  /** When the cap is reached if that goes on; null: not in this week. */
  cap_reached_at: string | null;
}

const GROUP = SPEND_GROUPS.join('|');
/** The same over HTTP, where `group_by` is one text: groups in their order, separated by commas. */
export const spendQuerySchema = spendSchema.extend({
  group_by: z
    .string()
    .regex(
      new RegExp(`^(${GROUP})(,(${GROUP}))*$`),
      `must be some of ${SPEND_GROUPS.join(', ')}, separated by commas`,
    )
    .optional(),
});
export const setDefaultCapSchema = setCapSchema.omit({ owner_id: true });
export const setOwnerCapSchema = setCapSchema.required({ owner_id: true });
export const ownerCapRefSchema = getCapSchema.required({ owner_id: true });
export const ownerBudgetSchema = getBudgetSchema.required({ owner_id: true });

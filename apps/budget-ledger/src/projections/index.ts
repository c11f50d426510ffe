import type { Projection } from '@runyard/persistence';
import { BUDGETS, BUDGET_TABLES } from './budgets.projection';
import { MODEL_PRICES } from './prices.projection';

/** What `verify` needs to rebuild a projection of this service beside its live rows and compare them. */
export interface VerifiedProjection {
  projection: Projection;
  schema: string;
  tables: readonly string[];
}

export const BUDGET_LEDGER_PROJECTIONS: readonly VerifiedProjection[] = [
  { projection: BUDGETS, schema: 'budget_ledger', tables: BUDGET_TABLES },
  { projection: MODEL_PRICES, schema: 'budget_ledger', tables: ['model_prices'] },
];

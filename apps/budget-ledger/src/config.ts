import { readConfig } from '@runyard/service';
import type { Env, ServiceConfig } from '@runyard/service';

export interface BudgetLedgerConfig {
  service: ServiceConfig;
}

/** Reads the environment. Throws ConfigError, which names variables and never values. */
export const readBudgetLedgerConfig = (env?: Env): BudgetLedgerConfig => ({ service: readConfig(env) });

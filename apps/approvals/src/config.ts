import { readConfig, readEnv } from '@runyard/service';
import type { Env, ServiceConfig } from '@runyard/service';
import { z } from 'zod';

const RANGE = 'must be a whole number from 50 to 60000';
const approvalsEnv = z.object({
  RUNYARD_APPROVALS_TICK_MS: z
    .string()
    .regex(/^\d{1,6}$/, RANGE)
    .transform(Number)
    .refine((ms) => ms >= 50 && ms <= 60_000, RANGE)
    .default(1_000),
});

export interface ApprovalsConfig {
  service: ServiceConfig;
  /** Milliseconds between two looks for approvals that nobody decided in time. Deciding late is refused without it. */
  tickMs: number;
}

/** What a launcher leaves out. */
export const APPROVALS_DEFAULTS: Omit<ApprovalsConfig, 'service'> = { tickMs: 1_000 };

/** Reads the environment. Throws ConfigError, which names variables and never values. */
export function readApprovalsConfig(env: Env = process.env): ApprovalsConfig {
  return { service: readConfig(env), tickMs: readEnv(approvalsEnv, env).RUNYARD_APPROVALS_TICK_MS };
}

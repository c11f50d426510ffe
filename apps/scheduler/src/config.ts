import { readConfig, readEnv } from '@runyard/service';
import type { Env, ServiceConfig } from '@runyard/service';
import { z } from 'zod';

const RANGE = 'must be a whole number from 50 to 60000';
const schedulerEnv = z.object({
  RUNYARD_SCHEDULER_TICK_MS: z
    .string()
    .regex(/^\d{1,6}$/, RANGE)
    .transform(Number)
    .refine((ms) => ms >= 50 && ms <= 60_000, RANGE)
    .default(500),
});

export interface SchedulerConfig {
  service: ServiceConfig;
  /** Milliseconds between two looks for due slots: how late a run may start, and how soon a change holds. */
  tickMs: number;
}

/** What a launcher leaves out. */
export const SCHEDULER_DEFAULTS: Omit<SchedulerConfig, 'service'> = { tickMs: 500 };

/** Reads the environment. Throws ConfigError, which names variables and never values. */
export function readSchedulerConfig(env: Env = process.env): SchedulerConfig {
  return { service: readConfig(env), tickMs: readEnv(schedulerEnv, env).RUNYARD_SCHEDULER_TICK_MS };
}

import { readConfig, readEnv } from '@runyard/service';
import type { Env, ServiceConfig } from '@runyard/service';
import { z } from 'zod';

const RANGE = 'must be a whole number from 100 to 60000';
const tasksEnv = z.object({
  RUNYARD_TASKS_WATCH_MS: z
    .string()
    .regex(/^\d{1,6}$/, RANGE)
    .transform(Number)
    .refine((ms) => ms >= 100 && ms <= 60_000, RANGE)
    .default(1_000),
});

export interface TasksConfig {
  service: ServiceConfig;
  /** Milliseconds between two looks for pauses that are over, stops that are not done and requests that got lost. */
  watchMs: number;
}

/** What a launcher leaves out. */
export const TASKS_DEFAULTS: Omit<TasksConfig, 'service'> = { watchMs: 1_000 };

/** Reads the environment. Throws ConfigError, which names variables and never values. */
export function readTasksConfig(env: Env = process.env): TasksConfig {
  return { service: readConfig(env), watchMs: readEnv(tasksEnv, env).RUNYARD_TASKS_WATCH_MS };
}

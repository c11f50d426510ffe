import { readEnv, tracesOf, traceEnv } from '@runyard/service';
import { z } from 'zod';

const startEnv = z.object({
  ...traceEnv,
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\/\S+$/, 'must be a postgres:// URL of an owner')
    .optional(),
  NATS_URL: z
    .string()
    .regex(/^(nats|tls):\/\/\S+$/, 'must be a nats:// URL')
    .optional(),
  RUNYARD_LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('warn'),
  RUNYARD_DURABILITY: z
    .enum(['power-loss', 'process'], 'must be power-loss or process')
    .default('power-loss'),
});

/** What processes of services need of the environment beside their own settings. */
const inherited = (env: NodeJS.ProcessEnv = process.env): Record<string, string> =>
  Object.fromEntries(
    ['PATH', 'HOME', 'TMPDIR', ...Object.keys(traceEnv)].flatMap((name) =>
      env[name] ? [[name, env[name]]] : [],
    ),
  );

/** What `npm start` reads of the environment. */
export function readStartConfig() {
  const v = readEnv(startEnv);
  return {
    databaseUrl: v.DATABASE_URL,
    natsUrl: v.NATS_URL,
    logLevel: v.RUNYARD_LOG_LEVEL,
    durable: v.RUNYARD_DURABILITY === 'power-loss',
    traces: tracesOf(v),
    inherited: inherited(),
  };
}

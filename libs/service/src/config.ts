import type { JointTails } from '@runyard/event-log';
import { z } from 'zod';
import type { TraceConfig } from './trace-exporter';

/** The environment as a service reads it; `process.env` in production, a literal in tests. */
export type Env = Readonly<Record<string, string | undefined>>;

/** A configuration that cannot be used. The message names variables and what each must be, never their values. */
export class ConfigError extends Error {
  constructor(readonly variables: { name: string; detail: string }[]) {
    super(`Configuration is not usable: ${variables.map((v) => `${v.name} ${v.detail}`).join('; ')}`);
    this.name = 'ConfigError';
  }
}

/** Reads variables by a schema whose keys are their names. An empty variable counts as unset. Throws ConfigError. */
export function readEnv<T extends z.ZodType>(schema: T, env: Env = process.env): z.output<T> {
  const present = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  );
  const result = schema.safeParse(present);
  if (result.success) return result.data;
  throw new ConfigError(
    result.error.issues.map((issue) => {
      const name = String(issue.path[0] ?? 'the environment');
      return { name, detail: name in present ? withoutValue(issue.message, present[name]) : 'is required' };
    }),
  );
}

/** Shorter ones are no secrets, but parts of ordinary words and numbers. */
const SECRET_LENGTH = 6;

/** A schema's message may quote what it read; a value is a secret until somebody proves that it is not. */
function withoutValue(message: string, value: string | undefined): string {
  return value && value.length >= SECRET_LENGTH ? message.replaceAll(value, '…') : message;
}

const postgresUrl = z.string().regex(/^postgres(ql)?:\/\/\S+$/, 'must be a postgres:// URL');
const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((n) => n >= min && n <= max, `must be a whole number from ${min} to ${max}`);

/** Where traces go, under OpenTelemetry's own names. */
export const traceEnv = {
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url('must be an http(s):// URL').optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z.url('must be an http(s):// URL').optional(),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(0(\.\d+)?|1(\.0+)?)$/, 'must be a share from 0 to 1')
    .transform(Number)
    .default(1),
};

/** Variables that every service reads. */
export const serviceEnv = z.object({
  NATS_URL: z
    .string()
    .regex(/^(nats|tls|wss?):\/\/\S+$/, 'must be one or more nats:// URLs, separated by commas')
    .default('nats://127.0.0.1:4222'),
  NATS_USER: z.string().optional(),
  NATS_PASSWORD: z.string().optional(),
  DATABASE_URL: postgresUrl,
  DATABASE_ACROSS_URL: postgresUrl,
  DATABASE_OWNER_URL: postgresUrl.optional(),
  RUNYARD_DATABASE_POOL: wholeNumber(2, 200).default(10),
  RUNYARD_OPS_HOST: z.string().default('127.0.0.1'),
  RUNYARD_OPS_PORT: wholeNumber(0, 65_535).default(9_090),
  RUNYARD_LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'], 'must be debug, info, warn, error or silent')
    .default('info'),
  RUNYARD_RPC_CONCURRENCY: wholeNumber(1, 10_000).default(64),
  RUNYARD_SHUTDOWN_SECONDS: wholeNumber(1, 600).default(20),
  ...traceEnv,
});

/** What every service needs to run; built by {@link readConfig} or passed in by a launcher that hosts several services. */
export interface ServiceConfig {
  /** `tails`: readings in common with other services of the process. */
  nats: { servers: string[]; user?: string; password?: string; tails?: JointTails };
  /** `url` is the login under row-level security, `acrossUrl` the one of projectors and sweeps, `ownerUrl` migrates at start. */
  database: { url: string; acrossUrl: string; ownerUrl?: string; poolSize: number };
  /** Where /live, /ready and /metrics answer; null: nowhere (a launcher serves them); port 0: any free one. */
  ops: { host: string; port: number } | null;
  logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** RPC requests handled side by side. */
  rpcConcurrency: number;
  /** How long work in hand may take after SIGTERM, milliseconds. */
  shutdownMs: number;
  /** Where traces are sent; undefined: nowhere. */
  traces?: TraceConfig;
}

/** Reads what every service needs. Throws ConfigError. */
export function readConfig(env: Env = process.env): ServiceConfig {
  const v = readEnv(serviceEnv, env);
  return {
    nats: { servers: v.NATS_URL.split(','), user: v.NATS_USER, password: v.NATS_PASSWORD },
    database: {
      url: v.DATABASE_URL,
      acrossUrl: v.DATABASE_ACROSS_URL,
      ownerUrl: v.DATABASE_OWNER_URL,
      poolSize: v.RUNYARD_DATABASE_POOL,
    },
    ops: { host: v.RUNYARD_OPS_HOST, port: v.RUNYARD_OPS_PORT },
    logLevel: v.RUNYARD_LOG_LEVEL,
    rpcConcurrency: v.RUNYARD_RPC_CONCURRENCY,
    shutdownMs: v.RUNYARD_SHUTDOWN_SECONDS * 1000,
    traces: tracesOf(v),
  };
}

/** Where traces go; undefined: nowhere. */
export function tracesOf(v: z.output<z.ZodObject<typeof traceEnv>>): TraceConfig | undefined {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own } = v;
  const url = own ?? (base && `${base.replace(/\/$/, '')}/v1/traces`);
  return url === undefined ? undefined : { url, ratio: v.OTEL_TRACES_SAMPLER_ARG };
}

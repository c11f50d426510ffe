import { readConfig, readEnv } from '@runyard/service';
import type { Env, ServiceConfig } from '@runyard/service';
import { z } from 'zod';

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((n) => n >= min && n <= max, `must be a whole number from ${min} to ${max}`);
const list = z
  .string()
  .default('')
  .transform((text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  );
const onOff = (preset: 'on' | 'off') => z.enum(['on', 'off'], 'must be on or off').default(preset);

const CIDR = /^[0-9A-Fa-f.:]+\/\d{1,3}$/;
const privateAddresses = z
  .string()
  .default('off')
  .transform((text) =>
    text === 'on' || text === 'off' ? text === 'on' : text.split(',').map((block) => block.trim()),
  )
  .refine(
    (allowed) => typeof allowed === 'boolean' || allowed.every((block) => CIDR.test(block)),
    'must be on, off or CIDR blocks',
  );

const KNOWLEDGE = 'must be service, off, or the URL of an MCP server';
/** Most children of a run at a time, unless the environment says otherwise: each of them may have as many of its own. */
export const PARALLEL_CHILDREN = 8;

const executorEnv = z.object({
  RUNYARD_EXECUTOR_PLACES: wholeNumber(1, 10_000).default(128),
  RUNYARD_INTAKE_CONCURRENCY: wholeNumber(1, 1_000).default(64),
  RUNYARD_RECORDINGS_DIR: z.string().optional(),
  RUNYARD_SECRETS_DIR: z.string().optional(),
  RUNYARD_HTTP_ALLOWED_HOSTS: list,
  RUNYARD_HTTP_ALLOW_PRIVATE: privateAddresses,
  RUNYARD_MCP_STDIO_COMMANDS: list,
  RUNYARD_KNOWLEDGE: z
    .string()
    .refine((text) => text === 'service' || text === 'off' || /^https?:\/\/[^@\s]+$/.test(text), KNOWLEDGE)
    .default('service'),
  RUNYARD_KNOWLEDGE_CREDENTIAL: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9_.-]{0,79}$/, 'must be the name of a secret, never its value')
    .optional(),
  RUNYARD_PARALLEL_CHILDREN: wholeNumber(0, 64).default(PARALLEL_CHILDREN),
  RUNYARD_PAUSE_TTL_SECONDS: wholeNumber(1, 31_536_000).default(604_800),
  RUNYARD_APPROVAL_TTL_SECONDS: wholeNumber(1, 31_536_000).default(259_200),
  RUNYARD_RETENTION_SECONDS: wholeNumber(1, 86_400).default(3_600),
  RUNYARD_PROJECTIONS: onOff('on'),
  RUNYARD_DRIVE: onOff('on'),
});

/** What the executor needs to run; built from the environment, or passed in by a launcher that hosts several services. */
export interface ExecutorConfig {
  service: ServiceConfig;
  /** Runs that this process drives at once. */
  places: number;
  intakeConcurrency: number;
  /** Folder of recordings (recorded models and tools); undefined: there are none. */
  recordingsDir?: string;
  /** Folder of secrets, one file a secret: `<folder>/<org id>/<name>`; undefined: there are none. */
  secretsDir?: string;
  http: { allowedHosts: string[]; allowPrivate: boolean | string[] };
  /** Command lines that stdio MCP servers may be started with: words, `*` at the end for further arguments. */
  stdioCommands: (string | string[])[];
  /**
   * Where the core tools read: the knowledge service, or a neighbour's MCP server. `off`: there is no knowledge, and no
   * agent is offered the core tools; so for replays, whose recordings do not know them.
   */
  knowledge: 'service' | 'off' | { url: string; credential?: string };
  pauseTtlMs: number;
  /** How long a question to a person stays open: over a weekend by default. */
  approvalTtlMs: number;
  /** How often runs are looked for that their org keeps no longer. */
  retentionEveryMs: number;
  /** Runs that a run may delegate to at the same time. */
  parallelChildren: number;
  /** Whether this process keeps the rows. One of several is enough; the others wait for its lock. */
  projections: boolean;
  /** Whether this process takes requests and drives runs. */
  drive: boolean;
}

/** What the executor itself goes by, beside what every service needs. */
export type ExecutorSettings = Omit<ExecutorConfig, 'service'>;

/** What a launcher leaves out. */
export const EXECUTOR_DEFAULTS: ExecutorSettings = {
  places: 128,
  intakeConcurrency: 64,
  http: { allowedHosts: [], allowPrivate: false },
  stdioCommands: [],
  knowledge: 'service',
  pauseTtlMs: 604_800_000,
  approvalTtlMs: 259_200_000,
  retentionEveryMs: 3_600_000,
  parallelChildren: PARALLEL_CHILDREN,
  projections: true,
  drive: true,
};

/** Reads the environment. Throws ConfigError, which names variables and never values. */
export function readExecutorConfig(env?: Env): ExecutorConfig {
  const v = readEnv(executorEnv, env);
  return {
    service: readConfig(env),
    places: v.RUNYARD_EXECUTOR_PLACES,
    intakeConcurrency: v.RUNYARD_INTAKE_CONCURRENCY,
    recordingsDir: v.RUNYARD_RECORDINGS_DIR,
    secretsDir: v.RUNYARD_SECRETS_DIR,
    http: { allowedHosts: v.RUNYARD_HTTP_ALLOWED_HOSTS, allowPrivate: v.RUNYARD_HTTP_ALLOW_PRIVATE },
    stdioCommands: v.RUNYARD_MCP_STDIO_COMMANDS,
    knowledge: knowledgeOf(v.RUNYARD_KNOWLEDGE, v.RUNYARD_KNOWLEDGE_CREDENTIAL),
    parallelChildren: v.RUNYARD_PARALLEL_CHILDREN,
    retentionEveryMs: v.RUNYARD_RETENTION_SECONDS * 1_000,
    pauseTtlMs: v.RUNYARD_PAUSE_TTL_SECONDS * 1_000,
    approvalTtlMs: v.RUNYARD_APPROVAL_TTL_SECONDS * 1_000,
    projections: v.RUNYARD_PROJECTIONS === 'on',
    drive: v.RUNYARD_DRIVE === 'on',
  };
}

function knowledgeOf(where: string, credential: string | undefined): ExecutorConfig['knowledge'] {
  if (where === 'service' || where === 'off') return where;
  return { url: where, ...(credential !== undefined && { credential }) };
}

import { applyStreams, connectEventLog } from '@runyard/event-log';
import { ensureRoles, roleOf } from '@runyard/persistence';
import { readEnv } from '@runyard/service';
import { z } from 'zod';
import { streamDefinitions } from '../nats/streams';

const SERVICES = [
  'agent-registry',
  'approvals',
  'budget-ledger',
  'gateway',
  'knowledge',
  'run-executor',
  'scheduler',
  'tasks',
];

const schema = z.object({
  NATS_URL: z.string(),
  NATS_USER: z.string().optional(),
  NATS_PASSWORD: z.string().optional(),
  DATABASE_OWNER_URL: z.string(),
  RUNYARD_STREAM_REPLICAS: z.enum(['1', '3'], 'must be 1 or 3').default('1'),
  AGENT_REGISTRY_DB_PASSWORD: z.string(),
  BUDGET_LEDGER_DB_PASSWORD: z.string(),
  APPROVALS_DB_PASSWORD: z.string(),
  GATEWAY_DB_PASSWORD: z.string(),
  KNOWLEDGE_DB_PASSWORD: z.string(),
  RUN_EXECUTOR_DB_PASSWORD: z.string(),
  SCHEDULER_DB_PASSWORD: z.string(),
  TASKS_DB_PASSWORD: z.string(),
});

/**
 * The step before the first start of any service, repeatable: login roles with the passwords that the services will use
 * (both roles of a service share one), and the streams. Services migrate their own schemas.
 */
async function prepare(): Promise<void> {
  const env = readEnv(schema);
  const passwords = new Map([
    [roleOf('agent-registry'), env.AGENT_REGISTRY_DB_PASSWORD],
    [roleOf('budget-ledger'), env.BUDGET_LEDGER_DB_PASSWORD],
    [roleOf('approvals'), env.APPROVALS_DB_PASSWORD],
    [roleOf('gateway'), env.GATEWAY_DB_PASSWORD],
    [roleOf('knowledge'), env.KNOWLEDGE_DB_PASSWORD],
    [roleOf('run-executor'), env.RUN_EXECUTOR_DB_PASSWORD],
    [roleOf('scheduler'), env.SCHEDULER_DB_PASSWORD],
    [roleOf('tasks'), env.TASKS_DB_PASSWORD],
  ]);
  await ensureRoles(env.DATABASE_OWNER_URL, SERVICES, (role) => passwords.get(role.replace(/_across$/, '')));
  const log = await connectEventLog({
    servers: env.NATS_URL.split(','),
    name: 'prepare',
    user: env.NATS_USER,
    pass: env.NATS_PASSWORD,
  });
  try {
    const replicas = Number(env.RUNYARD_STREAM_REPLICAS);
    await applyStreams(log.connection, streamDefinitions({ replicas }));
  } finally {
    await log.close();
  }
  console.log('roles and streams are in place');
}

prepare().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});

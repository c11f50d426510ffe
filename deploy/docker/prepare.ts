import { applyStreams, connectEventLog } from '@runyard/event-log';
import { roleOf } from '@runyard/persistence';
import { readEnv } from '@runyard/service';
import { z } from 'zod';
import { SERVICES } from '../local/service-list';
import { streamDefinitions } from '../nats/streams';
import { databasePassword, prepareDatabase } from '../postgres/prepare-database';

const passwords = z.object(
  Object.fromEntries(SERVICES.map(({ service }) => [databasePassword(service), z.string()] as const)),
);
const schema = z.object({
  NATS_URL: z.string(),
  NATS_USER: z.string().optional(),
  NATS_PASSWORD: z.string().optional(),
  DATABASE_OWNER_URL: z.string(),
  RUNYARD_STREAM_REPLICAS: z.enum(['1', '3'], 'must be 1 or 3').default('1'),
});

/**
 * The step before services of a version start, repeatable: login roles with the passwords that the services will use (both
 * roles of a service share one), the archive and every schema, and the streams. Services need no rights of an owner then.
 */
async function prepare(): Promise<void> {
  const env = readEnv(schema);
  const given = readEnv(passwords);
  const byRole = new Map(SERVICES.map(({ service }) => [roleOf(service), given[databasePassword(service)]]));
  await prepareDatabase(env.DATABASE_OWNER_URL, SERVICES, (role) => byRole.get(role.replace(/_across$/, '')));
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
  console.log('roles, schemas and streams are in place');
}

prepare().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});

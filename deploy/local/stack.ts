import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { applyStreams } from '@runyard/event-log';
import {
  ACROSS_GROUP,
  acrossRoleOf,
  archiveMigrations,
  derivedPasswords,
  ensureRoles,
  roleOf,
  runMigrations,
  schemaOf,
  TENANT_GROUP,
  urlFor,
} from '@runyard/persistence';
import type { Migration } from '@runyard/persistence';
import { streamDefinitions } from '../nats/streams';
import { startNatsServer } from './nats.mjs';
import { startPostgres } from './postgres.mjs';

export interface StackOptions {
  /** Where data, secrets and server files lie; made where it is missing. */
  folder: string;
  /** True: every acknowledged event survives power loss. False: kill -9 of any process only; for tests. */
  durable: boolean;
  services: readonly { service: string; migrations: readonly Migration[] }[];
  /** Servers that exist already; what is missing is started. */
  databaseUrl?: string;
  natsUrl?: string;
  log?: (line: string) => void;
}

/** Servers, migrated and with streams: what services need to run. */
export interface Stack {
  natsUrl: string;
  /** The owner's URL: migrations and verification. */
  ownerUrl: string;
  urlOf(service: string): string;
  acrossUrlOf(service: string): string;
  /** Process ids of the servers that were started here. */
  pids: { postgres?: number; nats?: number };
  stop(): Promise<void>;
}

/** Starts what is missing of Postgres and NATS, makes roles, applies migrations and streams. Repeatable on one folder. */
export async function startStack(options: StackOptions): Promise<Stack> {
  mkdirSync(options.folder, { recursive: true });
  const started = await startServers(options);
  try {
    const passwords = derivedPasswords(installationSecret(options.folder));
    await prepareDatabase(started.ownerUrl, options.services, passwords);
    await prepareStreams(started.natsUrl);
    return {
      ...started,
      urlOf: (service) => urlFor(started.ownerUrl, roleOf(service), passwords(roleOf(service))),
      acrossUrlOf: (service) =>
        urlFor(started.ownerUrl, acrossRoleOf(service), passwords(acrossRoleOf(service))),
    };
  } catch (error) {
    await started.stop();
    throw error;
  }
}

type Servers = Pick<Stack, 'natsUrl' | 'ownerUrl' | 'pids' | 'stop'>;

async function startServers({ folder, durable, databaseUrl, natsUrl, log }: StackOptions): Promise<Servers> {
  const [postgres, nats] = await Promise.allSettled([
    databaseUrl ? null : startPostgres({ dataDir: join(folder, 'postgres'), durable, database: 'runyard' }),
    natsUrl ? null : startNatsServer({ dir: join(folder, 'nats'), syncAlways: durable, log }),
  ]);
  const stops = [postgres, nats].map((one) => (one.status === 'fulfilled' ? one.value : null));
  const stop = async () => void (await Promise.all(stops.map(async (server) => server?.stop())));
  for (const one of [postgres, nats])
    if (one.status === 'rejected') {
      await stop();
      throw one.reason;
    }
  const [db, bus] = stops;
  return {
    natsUrl: natsUrl ?? bus?.url ?? '',
    ownerUrl: databaseUrl ?? db?.url ?? '',
    pids: { postgres: db?.pid, nats: bus?.pid },
    stop,
  };
}

/** One secret of the installation, from which the roles' passwords derive. */
function installationSecret(folder: string): string {
  const file = join(folder, 'installation.secret');
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString('base64url'), { mode: 0o600 });
  return readFileSync(file, 'utf8');
}

async function prepareDatabase(
  url: string,
  services: StackOptions['services'],
  passwords: (role: string) => string,
): Promise<void> {
  await ensureRoles(
    url,
    services.map(({ service }) => service),
    passwords,
  );
  await runMigrations({
    url,
    schema: 'archive',
    migrations: archiveMigrations,
    roles: [TENANT_GROUP, ACROSS_GROUP],
  });
  for (const { service, migrations } of services) {
    const roles = [roleOf(service), acrossRoleOf(service)];
    await runMigrations({ url, schema: schemaOf(service), migrations, roles });
  }
}

async function prepareStreams(natsUrl: string): Promise<void> {
  const connection = await connect({ servers: natsUrl });
  try {
    await applyStreams(connection, streamDefinitions());
  } finally {
    await connection.close();
  }
}

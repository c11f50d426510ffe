import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { applyStreams } from '@runyard/event-log';
import { acrossRoleOf, derivedPasswords, roleOf, urlFor } from '@runyard/persistence';
import type { Migration } from '@runyard/persistence';
import { ACCESS, authorization, OPERATOR, passwordValue, passwordVariable } from '../nats/access';
import { streamDefinitions } from '../nats/streams';
import { prepareDatabase } from '../postgres/prepare-database';
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
  /** True: a user of the bus for each service, with what it may do and no more; only on a server that is started here. */
  usersOfBus?: boolean;
  log?: (line: string) => void;
}

/** Servers, migrated and with streams: what services need to run. */
export interface Stack {
  natsUrl: string;
  /** The owner's URL: migrations and verification. */
  ownerUrl: string;
  urlOf(service: string): string;
  acrossUrlOf(service: string): string;
  /** How a service, or the operator, signs on to the bus; undefined: it asks for nothing. */
  busLogin(user: string): BusLogin | undefined;
  /** Process ids of the servers that were started here. */
  pids: { postgres?: number; nats?: number };
  stop(): Promise<void>;
}

export interface BusLogin {
  user: string;
  pass: string;
}

/** Starts what is missing of Postgres and NATS, makes roles, applies migrations and streams. Repeatable on one folder. */
export async function startStack(options: StackOptions): Promise<Stack> {
  mkdirSync(options.folder, { recursive: true });
  const passwords = derivedPasswords(installationSecret(options.folder));
  const withUsers = options.usersOfBus === true && options.natsUrl === undefined;
  const busLogin = (user: string) => (withUsers ? { user, pass: passwords(`bus ${user}`) } : undefined);
  const started = await startServers(options, withUsers ? accessTo(busLogin) : {});
  try {
    await prepareDatabase(started.ownerUrl, options.services, passwords);
    await prepareStreams(started.natsUrl, busLogin(OPERATOR));
    return {
      ...started,
      busLogin,
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

async function startServers(
  { folder, durable, databaseUrl, natsUrl, log }: StackOptions,
  access: { authorization?: string; env?: Record<string, string> },
): Promise<Servers> {
  const [postgres, nats] = await Promise.allSettled([
    databaseUrl ? null : startPostgres({ dataDir: join(folder, 'postgres'), durable, database: 'runyard' }),
    natsUrl ? null : startNatsServer({ dir: join(folder, 'nats'), syncAlways: durable, log, ...access }),
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

/** What the server must know to let each service in. */
function accessTo(login: (user: string) => BusLogin | undefined) {
  const users = [OPERATOR, ...Object.keys(ACCESS)];
  const env = users.map((user) => [passwordVariable(user), passwordValue(login(user)?.pass ?? '')]);
  return { authorization: authorization(), env: Object.fromEntries(env) as Record<string, string> };
}

/** One secret of the installation, from which the roles' passwords derive. */
function installationSecret(folder: string): string {
  const file = join(folder, 'installation.secret');
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString('base64url'), { mode: 0o600 });
  return readFileSync(file, 'utf8');
}

async function prepareStreams(natsUrl: string, login: BusLogin | undefined): Promise<void> {
  const connection = await connect({ servers: natsUrl, ...login });
  try {
    await applyStreams(connection, streamDefinitions());
  } finally {
    await connection.close();
  }
}

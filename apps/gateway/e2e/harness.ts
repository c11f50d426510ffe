import type { NatsConnection } from '@nats-io/transport-node';
import { subjectOf } from '@runyard/contracts';
import type { NewEvent } from '@runyard/contracts';
import type { EventLogConnection } from '@runyard/event-log';
import { ServiceServers } from '@runyard/testing';
import type { TestDatabase, TestNats } from '@runyard/testing';
import { GATEWAY_DEFAULTS } from '../src/config';
import type { GatewayConfig } from '../src/config';
import { startGateway } from '../src/http.module';
import type { RunningGateway } from '../src/http.module';
import { GATEWAY_MIGRATIONS } from '../src/migrations';
import { FakeServices } from './fake-services';

export interface Harness extends AsyncDisposable {
  nats: TestNats;
  db: TestDatabase;
  bus: EventLogConnection;
  connection: NatsConnection;
  services: FakeServices;
  gateway: RunningGateway;
  url: string;
  config: GatewayConfig;
  /** Lines that the gateway logged. */
  logged: string[];
  append(org: string, runId: string, ...events: NewEvent[]): Promise<number>;
  stop(): Promise<void>;
}

/** The gateway with real NATS and Postgres, and fake services behind it. */
export async function startHarness(set: Partial<Omit<GatewayConfig, 'service'>> = {}): Promise<Harness> {
  const servers = await ServiceServers.start({ service: 'gateway', migrations: GATEWAY_MIGRATIONS });
  const { nats, database: db, bus, connection } = servers;
  const config: GatewayConfig = {
    ...GATEWAY_DEFAULTS,
    http: { ...GATEWAY_DEFAULTS.http, port: 0 },
    ...set,
    service: servers.config({
      ops: { host: '127.0.0.1', port: 0 },
      logLevel: 'info',
      rpcConcurrency: 8,
      shutdownMs: 1_000,
    }),
  };
  const services = new FakeServices(connection);
  await connection.flush();
  const logged: string[] = [];
  const gateway = await startGateway(config, { write: (line) => void logged.push(line) });
  const harness: Harness = {
    nats,
    db,
    bus,
    connection,
    services,
    gateway,
    url: gateway.url,
    config,
    logged,
    append: (org, runId, ...events) => append(bus, org, runId, events),
    stop: async () => {
      await gateway.close();
      await servers.stop();
    },
    [Symbol.asyncDispose]: () => harness.stop(),
  };
  return harness;
}

async function append(
  { log }: EventLogConnection,
  org: string,
  runId: string,
  events: NewEvent[],
): Promise<number> {
  const subject = subjectOf('runs', org, runId);
  const expected = await log.lastSequence(subject);
  const { sequence } = await log.append({
    subject,
    expected,
    events,
    meta: { actor: 'system:spec', source: 'run-executor' },
  });
  return sequence;
}

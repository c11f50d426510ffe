import type { Provider } from '@nestjs/common';
import { Health } from './health';
import { createLogger } from './logger';
import type { Logger } from './logger';
import { Loops } from './loops';
import { Metrics } from './metrics';
import type { ServiceConfig } from './config';
import type { ServiceOptions } from './options';
import { Tracing } from './tracing';
import { ProjectorHost } from './projector-host';
import { connectResources } from './resources';
import type { Resources } from './resources';
import { NatsRpcClient } from './rpc-client';
import * as tokens from './tokens';

/** What ServiceModule provides: settings, connections, and the parts that stand on them. */
export function providersOf(options: ServiceOptions): Provider[] {
  const { name, config } = options;
  return [
    { provide: tokens.SERVICE_NAME, useValue: name },
    { provide: tokens.SERVICE_CONFIG, useValue: config },
    { provide: tokens.SERVICE_OPTIONS, useValue: options },
    { provide: tokens.LOGGER, useFactory: () => createLogger(name, config.logLevel, options.logTo) },
    { provide: tokens.METRICS, useFactory: () => new Metrics(name) },
    { provide: tokens.TRACING, useFactory: () => options.tracing ?? tracingFor(name, config) },
    {
      provide: tokens.RESOURCES,
      inject: [tokens.METRICS, tokens.LOGGER],
      useFactory: (metrics: Metrics, logger: Logger) => prepare(options, metrics, logger),
    },
    fromResources(tokens.EVENT_LOG, (r) => r.log),
    fromResources(tokens.WORK_QUEUES, (r) => r.queues),
    fromResources(tokens.NATS_CONNECTION, (r) => r.connection),
    fromResources(tokens.DATABASE, (r) => r.db),
    fromResources(tokens.RPC_CLIENT, (r) => new NatsRpcClient(r.connection)),
    ...parts(),
  ];
}

function parts(): Provider[] {
  return [
    {
      provide: Health,
      inject: [tokens.METRICS, tokens.LOGGER],
      useFactory: (metrics: Metrics, logger: Logger) => new Health(metrics, logger),
    },
    {
      provide: Loops,
      inject: [Health, tokens.LOGGER, tokens.METRICS],
      useFactory: (health: Health, logger: Logger, metrics: Metrics) => new Loops(health, logger, metrics),
    },
    {
      provide: ProjectorHost,
      inject: [tokens.RESOURCES, Health, tokens.METRICS, tokens.LOGGER],
      useFactory: (r: Resources, health: Health, metrics: Metrics, logger: Logger) =>
        new ProjectorHost(r.db, r.log, health, metrics, logger),
    },
  ];
}

function fromResources(provide: symbol, take: (resources: Resources) => unknown): Provider {
  return { provide, inject: [tokens.RESOURCES], useFactory: take };
}

/** The exporter is loaded only where somebody collects: it is large. */
async function tracingFor(service: string, { traces }: ServiceConfig): Promise<Tracing> {
  return traces ? (await import('./trace-exporter.js')).tracingTo(service, traces) : Tracing.off;
}

async function prepare(options: ServiceOptions, metrics: Metrics, logger: Logger): Promise<Resources> {
  const { ownerUrl } = options.config.database;
  if (ownerUrl && options.migrate) await options.migrate(ownerUrl);
  return connectResources(options, metrics, logger);
}

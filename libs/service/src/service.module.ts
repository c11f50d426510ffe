import { Inject, Module } from '@nestjs/common';
import type {
  DynamicModule,
  OnApplicationBootstrap,
  OnApplicationShutdown,
  OnModuleDestroy,
  Provider,
} from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import type { LogStream } from '@runyard/contracts';
import { archiveProjection } from '@runyard/persistence';
import type { Projection } from '@runyard/persistence';
import type { ServiceConfig } from './config';
import { Health } from './health';
import { createLogger } from './logger';
import type { Logger } from './logger';
import { Loops } from './loops';
import { Metrics } from './metrics';
import { OpsServer } from './ops-server';
import { ProjectorHost } from './projector-host';
import { connectResources } from './resources';
import type { Resources } from './resources';
import { NatsRpcClient } from './rpc-client';
import { rpcHandlers } from './rpc-discovery';
import { RpcServer } from './rpc-server';
import * as tokens from './tokens';

export interface ServiceOptions {
  /** Name of the service: its RPC subjects, its CloudEvents source, its log lines. */
  name: string;
  config: ServiceConfig;
  /** Projections that this service owns and runs. */
  projections?: readonly Projection[];
  /** Streams whose raw copy in the archive this service keeps. */
  archives?: readonly LogStream[];
  /** Applies the service's migrations as owner; called at start only where `config.database.ownerUrl` is set. */
  migrate?: (ownerUrl: string) => Promise<unknown>;
  /** False where another part of the process reports event loop and memory. */
  processMetrics?: boolean;
  /** Where log lines go; default stdout. */
  logTo?: { write(line: string): void };
}

/**
 * Everything a service stands on: connections, RPC, projectors, supervised loops, readiness. Global: providers of the
 * service inject by the tokens of tokens.ts, or the classes Health, Loops and ProjectorHost.
 *
 * Order of a shutdown: readiness red; no more RPC, loops and projectors (onModuleDestroy, with the connections still
 * open for work in hand); connections last (onApplicationShutdown). A service stops its own consumers in onModuleDestroy.
 */
@Module({})
export class ServiceModule implements OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown {
  private rpc: RpcServer | undefined;
  private ops: OpsServer | undefined;

  constructor(
    @Inject(tokens.SERVICE_OPTIONS) private readonly options: ServiceOptions,
    @Inject(tokens.RESOURCES) private readonly resources: Resources,
    @Inject(tokens.LOGGER) private readonly logger: Logger,
    @Inject(tokens.METRICS) readonly metrics: Metrics,
    @Inject(Health) readonly health: Health,
    @Inject(Loops) private readonly loops: Loops,
    @Inject(ProjectorHost) private readonly projectors: ProjectorHost,
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
  ) {}

  static forRoot(options: ServiceOptions): DynamicModule {
    const providers = providersOf(options);
    const exported = [...Object.values(tokens), Health, Loops, ProjectorHost];
    return { module: ServiceModule, global: true, imports: [DiscoveryModule], providers, exports: exported };
  }

  get name(): string {
    return this.options.name;
  }

  /** Port of /live, /ready and /metrics; undefined where this service does not serve them itself. */
  get opsPort(): number | undefined {
    return this.ops?.port;
  }

  async onApplicationBootstrap(): Promise<void> {
    const { config, name, projections = [], archives = [] } = this.options;
    if (this.options.processMetrics !== false) this.metrics.collectProcess();
    this.watchConnections();
    this.projectors.start([...archives.map((stream) => archiveProjection(stream)), ...projections]);
    this.rpc = new RpcServer(
      this.resources.connection,
      name,
      config.rpcConcurrency,
      this.logger,
      this.metrics,
    );
    const handlers = rpcHandlers(this.discovery);
    for (const [method, handler] of handlers) this.rpc.serve(method, handler);
    if (config.ops) this.ops = await OpsServer.listen(config.ops, [this]);
    await this.resources.connection.flush();
    await this.health.start();
    this.logger.info({ methods: handlers.size, opsPort: this.ops?.port }, 'serving');
  }

  async onModuleDestroy(): Promise<void> {
    this.health.shutDown();
    await this.rpc?.stop(this.options.config.shutdownMs);
    await Promise.all([this.loops.stop(), this.projectors.stop()]);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.resources.close();
    await this.ops?.close();
    this.metrics.registry.clear();
    this.logger.info('stopped');
    this.logger.flush();
  }

  private watchConnections(): void {
    const { connection, log, db } = this.resources;
    this.health.watch('bus', 'nats', async () => {
      if (connection.isClosed())
        return { code: 'bus_disconnected', detail: 'the connection is closed for good' };
      await log.state('RUNS');
      return log.fault();
    });
    this.health.watch('db', 'postgres', async () => {
      await db.acrossOrgs('readiness', (tx) => tx.query('SELECT 1'));
      return null;
    });
  }
}

function providersOf(options: ServiceOptions): Provider[] {
  const { name, config } = options;
  const part = (provide: symbol, of: keyof Resources): Provider => ({
    provide,
    inject: [tokens.RESOURCES],
    useFactory: (r: Resources) => r[of],
  });
  return [
    { provide: tokens.SERVICE_NAME, useValue: name },
    { provide: tokens.SERVICE_CONFIG, useValue: config },
    { provide: tokens.SERVICE_OPTIONS, useValue: options },
    { provide: tokens.LOGGER, useFactory: () => createLogger(name, config.logLevel, options.logTo) },
    { provide: tokens.METRICS, useFactory: () => new Metrics(name) },
    {
      provide: tokens.RESOURCES,
      inject: [tokens.METRICS],
      useFactory: (metrics: Metrics) => prepare(options, metrics),
    },
    part(tokens.EVENT_LOG, 'log'),
    part(tokens.WORK_QUEUES, 'queues'),
    part(tokens.NATS_CONNECTION, 'connection'),
    part(tokens.DATABASE, 'db'),
    {
      provide: tokens.RPC_CLIENT,
      inject: [tokens.RESOURCES],
      useFactory: (r: Resources) => new NatsRpcClient(r.connection),
    },
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

async function prepare(options: ServiceOptions, metrics: Metrics): Promise<Resources> {
  const { ownerUrl } = options.config.database;
  if (ownerUrl && options.migrate) await options.migrate(ownerUrl);
  return connectResources(options.name, options.config, metrics);
}

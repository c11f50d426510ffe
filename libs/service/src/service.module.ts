import { Inject, Module } from '@nestjs/common';
import type {
  DynamicModule,
  OnApplicationBootstrap,
  OnApplicationShutdown,
  OnModuleDestroy,
} from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { archiveProjection } from '@runyard/persistence';
import { Health } from './health';
import type { Logger } from './logger';
import { Loops } from './loops';
import type { Metrics } from './metrics';
import { OpsServer } from './ops-server';
import type { ServiceOptions } from './options';
import { ProjectorHost } from './projector-host';
import { providersOf } from './providers';
import type { Resources } from './resources';
import { rpcHandlers } from './rpc-discovery';
import { RpcServer } from './rpc-server';
import * as tokens from './tokens';
import type { Tracing } from './tracing';

/** An org that nobody has: readiness asks under row-level security and sees nothing. */
const NO_ORG = '00000000-0000-0000-0000-000000000000';

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
    @Inject(tokens.TRACING) private readonly tracing: Tracing,
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
      this.tracing,
    );
    const handlers = rpcHandlers(this.discovery);
    for (const [method, handler] of handlers) this.rpc.serve(method, handler);
    if (config.ops) this.ops = await OpsServer.listen(config.ops, [this]);
    await this.resources.connection.flush();
    this.logger.info({ methods: handlers.size, opsPort: this.ops?.port }, 'serving');
  }

  async onModuleDestroy(): Promise<void> {
    this.health.shutDown();
    await this.rpc?.stop(this.options.config.shutdownMs);
    await Promise.all([this.loops.stop(), this.projectors.stop()]);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.resources.close();
    await this.tracing.stop();
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
      await db.inOrg(NO_ORG, (tx) => tx.query('SELECT 1'));
      return null;
    });
  }
}

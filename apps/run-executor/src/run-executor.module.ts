import { Inject, Module } from '@nestjs/common';
import type { DynamicModule, OnApplicationBootstrap, Provider } from '@nestjs/common';
import type { EventLog, NatsConnection, WorkQueues } from '@runyard/event-log';
import { runMigrations, roleOf, acrossRoleOf, schemaOf } from '@runyard/persistence';
import type { Database } from '@runyard/persistence';
import {
  DATABASE,
  EVENT_LOG,
  LOGGER,
  METRICS,
  NATS_CONNECTION,
  ProjectorHost,
  REACTION_BATCH,
  reactionProjection,
  ServiceModule,
  TRACING,
  WORK_QUEUES,
} from '@runyard/service';
import type { Logger, Metrics, Tracing } from '@runyard/service';
import type { ExecutorConfig } from './config';
import { assemble, reactionsOf } from './handlers/assembly.process';
import type { Executor } from './handlers/assembly.process';
import { ChildrenReaction } from './handlers/children-reaction.process';
import { BulkController } from './handlers/bulk.controller';
import { CancellationController } from './handlers/cancellation.controller';
import { ControlsController } from './handlers/controls.controller';
import { ConversationsController } from './handlers/conversations.controller';
import { ExecutorProcess } from './handlers/executor.process';
import { FenceController } from './handlers/fence.controller';
import { QueriesController } from './handlers/queries.controller';
import { SecretsController } from './handlers/secrets.controller';
import { RunTelemetry } from './handlers/telemetry.adapter';
import { SuccessorsController } from './handlers/successors.controller';
import { RUN_MIGRATIONS } from './migrations';
import { runPeopleProjection } from './projections/people.projection';
import { bulkActionsProjection } from './projections/bulk-actions.projection';
import { BulkQueries } from './projections/bulk.queries';
import { RunQueries } from './projections/run.queries';
import { runsProjection } from './projections/runs.projection';
import { BULK_PORTS, EXECUTOR, EXECUTOR_CONFIG, RUN_CONTROLS, RUN_QUERIES } from './tokens';

export const SERVICE = 'run-executor';

/** The run executor: a run's life, its loop, its recovery and its rows. */
@Module({})
export class RunExecutorModule implements OnApplicationBootstrap {
  constructor(
    @Inject(ProjectorHost) private readonly projectors: ProjectorHost,
    @Inject(EXECUTOR) private readonly executor: Executor,
    @Inject(EXECUTOR_CONFIG) private readonly config: ExecutorConfig,
    @Inject(WORK_QUEUES) private readonly queues: WorkQueues,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  static forRoot(config: ExecutorConfig): DynamicModule {
    return {
      module: RunExecutorModule,
      imports: [
        ServiceModule.forRoot({
          name: SERVICE,
          config: config.service,
          projections: config.projections
            ? [runsProjection(), runPeopleProjection, bulkActionsProjection]
            : [],
          archives: config.projections ? ['RUNS'] : [],
          // Three projections, an archive and the reactions hold a transaction at a time each; sweeps and heartbeats come besides.
          acrossPoolSize: 12,
          migrate: (url) =>
            runMigrations({
              url,
              schema: schemaOf(SERVICE),
              migrations: RUN_MIGRATIONS,
              roles: [roleOf(SERVICE), acrossRoleOf(SERVICE)],
            }),
        }),
      ],
      providers: providersOf(config),
    };
  }

  /** What others have decided about runs reaches their logs from here. */
  onApplicationBootstrap(): void {
    if (!this.config.projections) return;
    const projections = reactionsOf(this.executor, this.config).map((reaction) =>
      reactionProjection(reaction, this.queues, this.logger),
    );
    this.projectors.start(projections, { batchSize: REACTION_BATCH });
  }
}

const BULK_PROVIDER: Provider = {
  provide: BULK_PORTS,
  inject: [EXECUTOR, EVENT_LOG, DATABASE],
  useFactory: ({ bulkLog }: Executor, log: EventLog, db: Database) => ({
    bulkLog,
    log,
    bulkQueries: new BulkQueries(db),
  }),
};

const providersOf = (config: ExecutorConfig): Provider[] => [
  { provide: EXECUTOR_CONFIG, useValue: config },
  {
    provide: EXECUTOR,
    inject: [EVENT_LOG, WORK_QUEUES, NATS_CONNECTION, DATABASE, LOGGER, TRACING, METRICS],
    useFactory: (
      log: EventLog,
      queues: WorkQueues,
      connection: NatsConnection,
      db: Database,
      logger: Logger,
      tracing: Tracing,
      metrics: Metrics,
    ) => {
      const telemetry = new RunTelemetry(tracing, metrics);
      return assemble({ config, log, queues, connection, db, logger, telemetry });
    },
  },
  {
    provide: RUN_CONTROLS,
    inject: [EXECUTOR],
    useFactory: (executor: Executor) => ({
      ...executor,
      clock: Date.now,
      pauseTtlMs: config.pauseTtlMs,
    }),
  },
  BULK_PROVIDER,
  { provide: RUN_QUERIES, inject: [DATABASE], useFactory: (db: Database) => new RunQueries(db) },
  BulkController,
  CancellationController,
  ControlsController,
  ConversationsController,
  FenceController,
  QueriesController,
  SecretsController,
  SuccessorsController,
  ExecutorProcess,
  ChildrenReaction,
];

import { Inject, Module } from '@nestjs/common';
import type { DynamicModule, OnApplicationBootstrap } from '@nestjs/common';
import type { EventLog, WorkQueues } from '@runyard/event-log';
import { blobs } from '@runyard/persistence';
import type { Database } from '@runyard/persistence';
import {
  DATABASE,
  EVENT_LOG,
  LOGGER,
  Loops,
  METRICS,
  Metrics,
  ProjectorHost,
  RPC_CLIENT,
  ServiceModule,
  WORK_QUEUES,
  reactionProjection,
} from '@runyard/service';
import type { Logger, RpcClient, ServiceOptions } from '@runyard/service';
import { Gauge } from 'prom-client';
import type { ApprovalsConfig } from './config';
import { ActivityController } from './handlers/activity.controller';
import { ApprovalLog } from './handlers/approval-log.adapter';
import { ApprovalsController } from './handlers/approvals.controller';
import { Decisions } from './handlers/decide.process';
import { Expiry } from './handlers/expiry.process';
import { keptRulesReaction } from './handlers/kept-rules.process';
import { PermissionsController } from './handlers/permissions.controller';
import { RegistryFacts } from './handlers/registry.adapter';
import { RunQuestions, ofAskers } from './handlers/run-questions.process';
import { Runs } from './handlers/runs.adapter';
import { migrateApprovals } from './migrations';
import { APPROVALS_PROJECTIONS } from './projections';
import { ActivityQueries } from './projections/activity.queries';
import { ApprovalQueries } from './projections/approval.queries';
import { DueQueries } from './projections/due.queries';
import { RuleQueries } from './projections/rule.queries';
import { APPROVALS_CLOCK } from './types';

const NAME = 'approvals';
const TICK_MS = Symbol('TICK_MS');
/** Milliseconds between two counts of what waits. */
const COUNT_MS = 15_000;
/** Commits of runs a transaction: nearly all are passed by, and what is left must fit into it. */
const REACTION_BATCH = 200;

/** Permission rules, what runs ask people, and the feed of what happened. */
@Module({})
export class ApprovalsModule implements OnApplicationBootstrap {
  constructor(
    @Inject(Loops) private readonly loops: Loops,
    @Inject(METRICS) private readonly metrics: Metrics,
    @Inject(TICK_MS) private readonly tickMs: number,
    @Inject(Expiry) private readonly expiry: Expiry,
    @Inject(DueQueries) private readonly due: DueQueries,
    @Inject(ProjectorHost) private readonly projectors: ProjectorHost,
    @Inject(ApprovalLog) private readonly approvals: ApprovalLog,
    @Inject(Runs) private readonly runs: Runs,
    @Inject(WORK_QUEUES) private readonly queues: WorkQueues,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(APPROVALS_CLOCK) private readonly now: () => number,
  ) {}

  /** `now`: the clock; tests give their own. */
  static forRoot(
    config: ApprovalsConfig,
    overrides: Partial<ServiceOptions> = {},
    now: () => number = Date.now,
  ): DynamicModule {
    const service = ServiceModule.forRoot({
      name: NAME,
      config: config.service,
      projections: APPROVALS_PROJECTIONS.map(({ projection }) => projection),
      archives: ['APPROVALS'],
      migrate: migrateApprovals,
      // Six projections, an archive and two reactions, each with a transaction at a time, and the scans.
      acrossPoolSize: 14,
      ...overrides,
    });
    return { module: ApprovalsModule, imports: [service], providers: providersOf(config.tickMs, now) };
  }

  onApplicationBootstrap(): void {
    const asked = reactionProjection(
      new RunQuestions(this.approvals, this.runs, this.now).reaction(),
      this.queues,
      this.logger,
    );
    const kept = reactionProjection(keptRulesReaction(this.approvals), this.queues, this.logger);
    this.projectors.start([ofAskers(asked), kept], { batchSize: REACTION_BATCH });
    this.loops.every('expiry', this.tickMs, () => this.expiry.pass());
    const gauge = (name: string, help: string) =>
      new Gauge({ name, help, registers: [this.metrics.registry] });
    const pending = gauge('runyard_approvals_pending', 'Approvals that wait for a person');
    const oldest = gauge(
      'runyard_approvals_oldest_seconds',
      'How long the oldest pending approval has waited',
    );
    const overdue = gauge(
      'runyard_approvals_overdue',
      'Approvals that should have expired more than a minute ago and are still pending',
    );
    this.loops.every('count', COUNT_MS, async () => {
      const waiting = await this.due.waiting(this.now());
      pending.set(waiting.pending);
      oldest.set(waiting.oldestSeconds);
      overdue.set(waiting.overdue);
    });
  }
}

const providersOf = (tickMs: number, now: () => number): NonNullable<DynamicModule['providers']> => [
  { provide: APPROVALS_CLOCK, useValue: now },
  { provide: TICK_MS, useValue: tickMs },
  { provide: ApprovalLog, inject: [EVENT_LOG], useFactory: (log: EventLog) => new ApprovalLog(log) },
  { provide: RegistryFacts, inject: [EVENT_LOG], useFactory: (log: EventLog) => new RegistryFacts(log) },
  { provide: ApprovalQueries, inject: [DATABASE], useFactory: (db: Database) => new ApprovalQueries(db) },
  { provide: ActivityQueries, inject: [DATABASE], useFactory: (db: Database) => new ActivityQueries(db) },
  { provide: RuleQueries, inject: [DATABASE], useFactory: (db: Database) => new RuleQueries(db) },
  { provide: DueQueries, inject: [DATABASE], useFactory: (db: Database) => new DueQueries(db) },
  {
    provide: Runs,
    inject: [EVENT_LOG, DATABASE, RPC_CLIENT],
    useFactory: (log: EventLog, db: Database, rpc: RpcClient) => new Runs(log, blobs(db), rpc),
  },
  {
    provide: Decisions,
    inject: [ApprovalLog, Runs, RegistryFacts, DATABASE],
    useFactory: (approvals: ApprovalLog, runs: Runs, registry: RegistryFacts, db: Database) =>
      new Decisions({ approvals, runs, registry, blobs: blobs(db), now }),
  },
  {
    provide: Expiry,
    inject: [ApprovalLog, DueQueries, LOGGER],
    useFactory: (approvals: ApprovalLog, due: DueQueries, logger: Logger) =>
      new Expiry(approvals, due, now, logger),
  },
  ActivityController,
  ApprovalsController,
  PermissionsController,
];

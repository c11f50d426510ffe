import { AsyncResource } from 'node:async_hooks';
import { Inject, Module } from '@nestjs/common';
import type { DynamicModule, OnApplicationBootstrap, Provider } from '@nestjs/common';
import type { EventLog, WorkQueues } from '@runyard/event-log';
import type { Database } from '@runyard/persistence';
import {
  DATABASE,
  EVENT_LOG,
  LOGGER,
  Loops,
  METRICS,
  ProjectorHost,
  RPC_CLIENT,
  ServiceModule,
  WORK_QUEUES,
} from '@runyard/service';
import type { Logger, Metrics, RpcClient, ServiceOptions } from '@runyard/service';
import type { BudgetLedgerConfig } from './config';
import { BudgetLog } from './handlers/budget-log.adapter';
import { CapsController } from './handlers/caps.controller';
import { LedgerMetrics } from './handlers/ledger-metrics';
import { Ledger } from './handlers/ledger.process';
import { ReservationsController } from './handlers/reservations.controller';
import { Settlements } from './handlers/settlements.process';
import { SpendController } from './handlers/spend.controller';
import { UnbornReservations } from './handlers/unborn.process';
import { Weeks } from './handlers/weeks.process';
import type { WeekHint } from './handlers/weeks.process';
import { migrateBudgetLedger } from './migrations';
import { BUDGET_LEDGER_PROJECTIONS } from './projections';
import { newestWeek } from './projections/budget.queries';
import { UnbornQueries } from './projections/unborn.queries';
import { LEDGER_CLOCK } from './types';

const NAME = 'budget-ledger';
/** Milliseconds between two looks for reservations without a run. */
const SWEEP_MS = 15_000;
/** Trees settled in one transaction of the reaction. */
const SETTLED_TOGETHER = 200;

/** What owners may spend, what their runs hold, and what was spent. */
@Module({})
export class BudgetLedgerModule implements OnApplicationBootstrap {
  constructor(
    @Inject(ProjectorHost) private readonly projectors: ProjectorHost,
    @Inject(Loops) private readonly loops: Loops,
    @Inject(Ledger) private readonly ledger: Ledger,
    @Inject(UnbornReservations) private readonly unborn: UnbornReservations,
    @Inject(LedgerMetrics) private readonly metrics: LedgerMetrics,
    @Inject(WORK_QUEUES) private readonly queues: WorkQueues,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** `now`: the clock; tests give their own. */
  static forRoot(
    config: BudgetLedgerConfig,
    overrides: Partial<ServiceOptions> = {},
    now: () => number = Date.now,
  ): DynamicModule {
    const service = ServiceModule.forRoot({
      name: NAME,
      config: config.service,
      projections: BUDGET_LEDGER_PROJECTIONS.map(({ projection }) => projection),
      archives: ['BUDGETS'],
      migrate: migrateBudgetLedger,
      // Two projections, an archive and a reaction, each with a transaction at a time, and the sweep.
      acrossPoolSize: 7,
      ...overrides,
    });
    return { module: BudgetLedgerModule, imports: [service], providers: providersOf(now) };
  }

  onApplicationBootstrap(): void {
    this.projectors.start([new Settlements(this.ledger, this.queues, this.logger).reaction], {
      batchSize: SETTLED_TOGETHER,
    });
    this.loops.every('unborn-reservations', SWEEP_MS, async () =>
      this.metrics.foundUnborn(await this.unborn.pass()),
    );
  }
}

/** Asked in a context of its own: around a settlement, the reaction's transaction is open. Without the database the log is asked. */
function hintFrom(db: Database): WeekHint {
  const apart = new AsyncResource('week-hint');
  return (org, ownerId) =>
    apart.runInAsyncScope(async () => {
      try {
        return (await db.inOrg(org, (tx) => newestWeek(tx, ownerId)))?.place;
      } catch {
        return undefined;
      }
    });
}

const providersOf = (now: () => number): Provider[] => [
  { provide: LEDGER_CLOCK, useValue: now },
  { provide: BudgetLog, inject: [EVENT_LOG], useFactory: (log: EventLog) => new BudgetLog(log) },
  { provide: LedgerMetrics, inject: [METRICS], useFactory: (metrics: Metrics) => new LedgerMetrics(metrics) },
  {
    provide: Weeks,
    inject: [BudgetLog, DATABASE],
    useFactory: (budgets: BudgetLog, db: Database) => new Weeks(budgets, hintFrom(db)),
  },
  {
    provide: Ledger,
    inject: [BudgetLog, Weeks, LedgerMetrics],
    useFactory: (budgets: BudgetLog, weeks: Weeks, metrics: LedgerMetrics) =>
      new Ledger(budgets, weeks, now, metrics),
  },
  {
    provide: UnbornReservations,
    inject: [DATABASE, EVENT_LOG, RPC_CLIENT, Ledger, LOGGER],
    useFactory: (db: Database, log: EventLog, rpc: RpcClient, ledger: Ledger, logger: Logger) =>
      new UnbornReservations({ queries: new UnbornQueries(db), log, rpc, ledger, logger }),
  },
  ReservationsController,
  CapsController,
  SpendController,
];

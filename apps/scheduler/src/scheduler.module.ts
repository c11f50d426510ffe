import { Inject, Module } from '@nestjs/common';
import type { DynamicModule, OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { EventLog, NatsConnection, Subscription, WorkQueues } from '@runyard/event-log';
import type { Database } from '@runyard/persistence';
import {
  DATABASE,
  EVENT_LOG,
  LOGGER,
  Loops,
  METRICS,
  Metrics,
  NATS_CONNECTION,
  RPC_CLIENT,
  ServiceModule,
  WORK_QUEUES,
} from '@runyard/service';
import type { Logger, RpcClient, ServiceOptions } from '@runyard/service';
import { Gauge } from 'prom-client';
import type { SchedulerConfig } from './config';
import { AgentClock } from './handlers/agent-clock.process';
import { DueSlots } from './handlers/due-slots.process';
import { Runs } from './handlers/runs.adapter';
import { SchedulesController } from './handlers/schedules.controller';
import { SlotAnswers } from './handlers/slot-answers.consumer';
import { SlotLog } from './handlers/slot-log.adapter';
import { migrateScheduler } from './migrations';
import { SCHEDULER_PROJECTIONS } from './projections';
import { ClockQueries } from './projections/clock.queries';
import { SCHEDULER_CLOCK } from './types';

const NAME = 'scheduler';
const TICK_MS = Symbol('TICK_MS');
const DUE_SLOTS = Symbol('DUE_SLOTS');
const SLOT_ANSWERS = Symbol('SLOT_ANSWERS');
/** Milliseconds between two counts of overdue slots. */
const COUNT_MS = 15_000;

/** When agents are due, and that each slot leads to one run request. */
@Module({})
export class SchedulerModule implements OnApplicationBootstrap, OnModuleDestroy {
  private answering: Subscription | undefined;

  constructor(
    @Inject(Loops) private readonly loops: Loops,
    @Inject(METRICS) private readonly metrics: Metrics,
    @Inject(TICK_MS) private readonly tickMs: number,
    @Inject(DUE_SLOTS) private readonly due: DueSlots,
    @Inject(SLOT_ANSWERS) private readonly answers: SlotAnswers,
  ) {}

  /** `now`: the clock; tests give their own. */
  static forRoot(
    config: SchedulerConfig,
    overrides: Partial<ServiceOptions> = {},
    now: () => number = Date.now,
  ): DynamicModule {
    const service = ServiceModule.forRoot({
      name: NAME,
      config: config.service,
      projections: SCHEDULER_PROJECTIONS.map(({ projection }) => projection),
      archives: ['SCHEDULES'],
      migrate: migrateScheduler,
      ...overrides,
    });
    return { module: SchedulerModule, imports: [service], providers: providersOf(config.tickMs, now) };
  }

  onApplicationBootstrap(): void {
    this.answering = this.answers.start();
    this.loops.every('slots', this.tickMs, () => this.due.pass());
    const overdue = new Gauge({
      name: 'runyard_slots_overdue',
      help: 'Slots that were due more than a minute ago and that no scheduler has decided about',
      registers: [this.metrics.registry],
    });
    this.loops.every('overdue-slots', COUNT_MS, async () => overdue.set(await this.due.overdue()));
  }

  async onModuleDestroy(): Promise<void> {
    await this.answering?.drain();
  }
}

const providersOf = (tickMs: number, now: () => number): NonNullable<DynamicModule['providers']> => [
  { provide: SCHEDULER_CLOCK, useValue: now },
  { provide: TICK_MS, useValue: tickMs },
  { provide: SlotLog, inject: [EVENT_LOG], useFactory: (log: EventLog) => new SlotLog(log) },
  { provide: ClockQueries, inject: [DATABASE], useFactory: (db: Database) => new ClockQueries(db) },
  {
    provide: DUE_SLOTS,
    inject: [SlotLog, ClockQueries, WORK_QUEUES, RPC_CLIENT, LOGGER],
    useFactory: (slots: SlotLog, clocks: ClockQueries, queues: WorkQueues, rpc: RpcClient, logger: Logger) =>
      new DueSlots({ clocks, clock: new AgentClock({ slots, runs: new Runs(queues, rpc) }), now, logger }),
  },
  {
    provide: SLOT_ANSWERS,
    inject: [NATS_CONNECTION, SlotLog, LOGGER],
    useFactory: (connection: NatsConnection, slots: SlotLog, logger: Logger) =>
      new SlotAnswers(connection, slots, logger),
  },
  SchedulesController,
];

import { Inject, Module } from '@nestjs/common';
import type { DynamicModule, OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { TASK_PHASES } from '@runyard/contracts';
import type { EventLog, NatsConnection, Subscription, WorkQueues } from '@runyard/event-log';
import { blobs } from '@runyard/persistence';
import type { Database } from '@runyard/persistence';
import {
  DATABASE,
  EVENT_LOG,
  LOGGER,
  Loops,
  METRICS,
  Metrics,
  NATS_CONNECTION,
  ProjectorHost,
  REACTION_BATCH,
  RPC_CLIENT,
  ServiceModule,
  WORK_QUEUES,
  reactionProjection,
} from '@runyard/service';
import type { Logger, RpcClient, ServiceOptions } from '@runyard/service';
import { Gauge } from 'prom-client';
import type { TasksConfig } from './config';
import { LocksController } from './handlers/locks.controller';
import { ReadsController } from './handlers/reads.controller';
import { RegistryFacts } from './handlers/registry.adapter';
import { runReactionProjection } from './handlers/run-reactions.process';
import { Runs } from './handlers/runs.adapter';
import { TaskReads } from './handlers/task-answers';
import { TaskAnswers } from './handlers/task-answers.consumer';
import { taskReaction } from './handlers/task-reactions.process';
import { TaskWatch } from './handlers/task-watch.process';
import { TasksController } from './handlers/tasks.controller';
import { TasksLog } from './handlers/tasks-log.adapter';
import { WorkController } from './handlers/work.controller';
import { migrateTasks } from './migrations';
import { TASKS_PROJECTIONS } from './projections';
import { WatchQueries } from './projections/watch.queries';

const NAME = 'tasks';
const WATCH_MS = Symbol('WATCH_MS');
/** Milliseconds between two counts of tasks at work. */
const COUNT_MS = 15_000;
/** Commits of RUNS that are looked at in one transaction; few of them concern tasks. */
const RUNS_BATCH = 500;

/** Tasks on a board: who holds which, and how agents work them through. */
@Module({})
export class TasksModule implements OnApplicationBootstrap, OnModuleDestroy {
  private answering: Subscription | undefined;

  constructor(
    @Inject(Loops) private readonly loops: Loops,
    @Inject(METRICS) private readonly metrics: Metrics,
    @Inject(ProjectorHost) private readonly projectors: ProjectorHost,
    @Inject(WORK_QUEUES) private readonly queues: WorkQueues,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(WATCH_MS) private readonly watchMs: number,
    @Inject(TaskWatch) private readonly watch: TaskWatch,
    @Inject(TaskAnswers) private readonly answers: TaskAnswers,
    @Inject(WatchQueries) private readonly watched: WatchQueries,
    @Inject(TasksLog) private readonly tasks: TasksLog,
    @Inject(Runs) private readonly runs: Runs,
  ) {}

  static forRoot(config: TasksConfig, overrides: Partial<ServiceOptions> = {}): DynamicModule {
    const service = ServiceModule.forRoot({
      name: NAME,
      config: config.service,
      projections: TASKS_PROJECTIONS.map(({ projection }) => projection),
      archives: ['TASKS'],
      migrate: migrateTasks,
      // Two projections, an archive and two reactions, each with a transaction at a time, and the looks of the watch.
      acrossPoolSize: 9,
      ...overrides,
    });
    return { module: TasksModule, imports: [service], providers: providersOf(config.watchMs) };
  }

  onApplicationBootstrap(): void {
    const ports = { tasks: this.tasks, runs: this.runs };
    this.projectors.start([reactionProjection(taskReaction(ports), this.queues, this.logger)], {
      batchSize: REACTION_BATCH,
    });
    this.projectors.start([runReactionProjection(ports, this.queues, this.logger)], {
      batchSize: RUNS_BATCH,
    });
    this.answering = this.answers.start();
    this.loops.every('task-watch', this.watchMs, () => this.watch.pass());
    this.countTasks();
  }

  async onModuleDestroy(): Promise<void> {
    await this.answering?.drain();
  }

  private countTasks(): void {
    const atWork = new Gauge({
      name: 'runyard_tasks_at_work',
      help: 'Tasks that are being worked on, by phase',
      labelNames: ['phase'],
      registers: [this.metrics.registry],
    });
    this.loops.every('tasks-at-work', COUNT_MS, async () => {
      const counts = new Map((await this.watched.atWork()).map(({ phase, tasks }) => [phase, tasks]));
      for (const phase of TASK_PHASES) atWork.set({ phase }, counts.get(phase) ?? 0);
    });
  }
}

const providersOf = (watchMs: number): NonNullable<DynamicModule['providers']> => [
  { provide: WATCH_MS, useValue: watchMs },
  { provide: TasksLog, inject: [EVENT_LOG], useFactory: (log: EventLog) => new TasksLog(log) },
  { provide: RegistryFacts, inject: [EVENT_LOG], useFactory: (log: EventLog) => new RegistryFacts(log) },
  { provide: WatchQueries, inject: [DATABASE], useFactory: (db: Database) => new WatchQueries(db) },
  {
    provide: Runs,
    inject: [EVENT_LOG, WORK_QUEUES, RPC_CLIENT],
    useFactory: (log: EventLog, queues: WorkQueues, rpc: RpcClient) => new Runs(log, queues, rpc),
  },
  {
    provide: TaskReads,
    inject: [DATABASE, RegistryFacts],
    useFactory: (db: Database, registry: RegistryFacts) => new TaskReads(db, registry, blobs(db)),
  },
  {
    provide: TaskWatch,
    inject: [TasksLog, Runs, WatchQueries, DATABASE],
    useFactory: (tasks: TasksLog, runs: Runs, watched: WatchQueries, db: Database) =>
      new TaskWatch({ tasks, runs, watched, blobs: blobs(db), now: Date.now }),
  },
  {
    provide: TaskAnswers,
    inject: [NATS_CONNECTION, TasksLog, LOGGER],
    useFactory: (connection: NatsConnection, tasks: TasksLog, logger: Logger) =>
      new TaskAnswers(connection, tasks, logger),
  },
  TasksController,
  ReadsController,
  LocksController,
  WorkController,
];

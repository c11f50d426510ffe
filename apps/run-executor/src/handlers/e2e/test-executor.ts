import type { IntakeAnswer, RunRequest } from '@runyard/contracts';
import { workSubject } from '@runyard/contracts';
import { connectEventLog, RetryLater } from '@runyard/event-log';
import type { EventLogConnection, NatsConnection } from '@runyard/event-log';
import type { Database } from '@runyard/persistence';
import { createLogger } from '@runyard/service';
import { setTimeout as wait } from 'node:timers/promises';
import { EXECUTOR_DEFAULTS } from '../../config';
import type { ExecutorSettings } from '../../config';
import type { ModelAdapter } from '../../models/types';
import type { ToolRunner } from '../../tools/types';
import { assemble } from '../assembly.process';
import type { Executor } from '../assembly.process';
import { ControlsController } from '../controls.controller';
import type { Budgets } from '../budgets.adapter';
import { ExecutorRoutine } from './executor-routine';
import { tappedBudgets } from './fake-budgets';
import type { FakeBudgets } from './fake-budgets';
import type { RunTelemetry } from '../telemetry.adapter';
import { scriptedModel, scriptedTools } from './script';
import type { Outside, Script } from './script';
import { CrashTap, MortalTap, OPEN_TAP, tappedDatabase, tappedLog, tappedQueues } from './taps';
import type { Tap } from './taps';
import { ORG } from './people';

const CONFIG: ExecutorSettings = {
  ...EXECUTOR_DEFAULTS,
  places: 64,
  intakeConcurrency: 16,
  knowledge: 'off',
  pauseTtlMs: 60_000,
  approvalTtlMs: 60_000,
};

export interface Circumstances {
  config?: Partial<ExecutorSettings>;
  tap?: Tap;
  /** False: takes nothing from the queues and sweeps nothing; the spec hands it what to do. */
  works?: boolean;
  clock?: () => number;
  /** Real adapters instead of the world's script. */
  models?: () => ModelAdapter;
  tools?: ToolRunner;
  telemetry?: RunTelemetry;
  /** A real ledger instead of the world's. */
  budgets?: (connection: NatsConnection) => Budgets;
  /** Another way to the bus than straight, for instance a faulty one. */
  servers?: string;
}

/** What an executor stands on: a world, or what a process of its own knows of one. */
export interface Ground {
  nats: { url: string };
  database: { connect(service: string): Database };
  db: Database;
  outside: Outside;
  budgets: FakeBudgets;
  /** Level of what executors log; `error` shows why a driver failed. */
  logLevel: string;
  /** Ended with the world, so that a failed spec leaves nothing running. */
  guests: Set<{ leave(): Promise<void> }>;
}

/** Spec-only: one executor of possibly several on the same servers. Its models and tools are the world's. */
export class TestExecutor {
  readonly controls: ControlsController;
  private readonly routine: ExecutorRoutine;

  private constructor(
    readonly bus: EventLogConnection,
    readonly executor: Executor,
    private readonly life: MortalTap,
    private readonly db: Database,
  ) {
    this.routine = new ExecutorRoutine(executor, bus, CONFIG);
    this.controls = new ControlsController({ ...executor, clock: Date.now, pauseTtlMs: 60_000 });
  }

  /** `script`: what models and tools answer from now on, to all executors of the world. */
  static async start(world: Ground, script?: Script | null, at: Circumstances = {}): Promise<TestExecutor> {
    if (script) world.outside.script = script;
    const { config, tap: inner = OPEN_TAP, works = true, clock } = at;
    const tap = new MortalTap(inner);
    const bus = await connectEventLog({ servers: at.servers ?? world.nats.url, name: 'executor' });
    // Those that only do what they are told share the world's few connections: a crash matrix has hundreds of them.
    const db = tappedDatabase(works ? world.database.connect('run-executor') : world.db, tap);
    const executor = assemble({
      config: { ...CONFIG, ...config },
      log: tappedLog(bus.log, tap),
      queues: tappedQueues(bus.queues, tap),
      connection: bus.connection,
      db,
      logger: createLogger('test', world.logLevel),
      budgets: tappedBudgets(at.budgets?.(bus.connection) ?? world.budgets, tap),
      models: at.models ?? (() => scriptedModel(world.outside, tap)),
      tools: at.tools ?? scriptedTools(world.outside, tap),
      random: () => 0,
      clock,
      telemetry: at.telemetry,
    });
    const self = new TestExecutor(bus, executor, tap, db);
    if (inner instanceof CrashTap) inner.onCrash = () => void self.die();
    world.guests.add(self);
    executor.presence.join(
      (id, epoch) => executor.drivers.drivesAt(id, epoch),
      (id) => executor.drivers.wake(id),
    );
    if (works) await self.routine.start(world.db);
    return self;
  }

  /** Takes a request in as the queue would hand it over, again and again while it must wait for somebody else. */
  async take(request: RunRequest): Promise<IntakeAnswer> {
    for (;;) {
      try {
        return await this.executor.intakeProcess.take(ORG, request);
      } catch (error) {
        if (!(error instanceof RetryLater)) throw error;
        await wait(error.delayMs);
      }
    }
  }

  /** Hears that a run is runnable, as the queue would tell it. */
  async hear(runId: string): Promise<void> {
    const message = {
      subject: workSubject(ORG, runId),
      sequence: 1,
      headers: {},
      body: new Uint8Array(),
      attempt: 1,
      working: () => undefined,
    };
    for (;;) {
      try {
        return await this.executor.work.handle(message);
      } catch (error) {
        if (!(error instanceof RetryLater)) throw error;
        await wait(error.delayMs);
      }
    }
  }

  get alive(): boolean {
    return !this.life.dead;
  }

  /** As if the process was killed: nothing is recorded any more, nobody answers for it. */
  async die(): Promise<void> {
    this.life.dead = true;
    this.routine.die();
    // A process takes its timers along; these look around, find nothing and end.
    for (const runId of this.executor.drivers.runIds()) this.executor.drivers.wake(runId);
    await this.executor.bulkActions.stop();
    await this.bus.connection.close();
  }

  /** What the end of a spec does to those that are left. */
  async leave(): Promise<void> {
    if (!this.bus.connection.isClosed()) await this.die();
  }

  async stop(): Promise<void> {
    await this.routine.stop();
    await this.executor.drivers.stop();
    this.executor.presence.leave();
    await this.executor.bulkActions.stop();
    await this.bus.close();
  }
}

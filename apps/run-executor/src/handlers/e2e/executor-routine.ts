import type { LogStream } from '@runyard/contracts';
import { streamSource } from '@runyard/event-log';
import type { EventLogConnection, QueueConsumer } from '@runyard/event-log';
import { runProjection } from '@runyard/persistence';
import type { Database } from '@runyard/persistence';
import { createLogger, REACTION_BATCH, reactionProjection } from '@runyard/service';
import type { ExecutorSettings } from '../../config';
import { reactionsOf } from '../assembly.process';
import type { Executor } from '../assembly.process';
import { childrenReaction } from '../children-reaction.process';

/** Spec-only: what an executor does without being told: takes from its queues, reacts to events, sweeps now and then. */
export class ExecutorRoutine {
  private consumers: QueueConsumer[] = [];
  private readonly timers: NodeJS.Timeout[] = [];
  private readonly leaving = new AbortController();
  private reacting: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly executor: Executor,
    private readonly bus: EventLogConnection,
    private readonly config: ExecutorSettings,
  ) {}

  /** Begins all of it; sweeps come faster than in a service, so that specs need not wait. */
  async start(db: Database): Promise<void> {
    const { drivers, intake, work, sweep, operations, presence, bulkActions } = this.executor;
    this.every(300, () => sweep.drivers());
    this.every(500, () => sweep.overdue());
    this.every(300, () => bulkActions.round(this.leaving.signal));
    this.every(500, () => drivers.check());
    this.every(1_000, () => operations.heartbeat(drivers.runIds(), presence.instance));
    this.react(db);
    this.consumers = [await intake.start(), await work.start()];
  }

  /** Stops as a killed process does: at once, and whether or not anything is in hand. */
  die(): void {
    this.leaving.abort();
    this.timers.forEach(clearInterval);
    void Promise.all(this.consumers.map((consumer) => consumer.stop())).catch(() => undefined);
  }

  /** Stops when what is in hand is done. */
  async stop(): Promise<void> {
    this.timers.forEach(clearInterval);
    await Promise.all(this.consumers.map((consumer) => consumer.stop()));
    this.leaving.abort();
    await this.reacting;
  }

  private react(db: Database): void {
    const { signal } = this.leaving;
    const logger = createLogger('test', 'silent');
    const projections = [
      ...reactionsOf(this.executor, this.config).map((reaction) =>
        reactionProjection(reaction, this.bus.queues, logger),
      ),
      childrenReaction(this.executor.children, this.bus.queues, logger),
      this.executor.wakings.reaction(this.bus.queues, logger),
    ];
    this.reacting = Promise.all(
      projections.map((projection) =>
        runProjection({
          db,
          source: streamSource(this.bus.log, projection.stream as LogStream, projection.filter),
          projection,
          signal,
          batchSize: REACTION_BATCH,
        }),
      ),
    );
  }

  private every(ms: number, task: () => Promise<void>): void {
    let busy = false;
    const timer = setInterval(() => {
      if (busy) return;
      busy = true;
      void task()
        .catch(() => undefined)
        .finally(() => void (busy = false));
    }, ms);
    this.timers.push(timer);
  }
}

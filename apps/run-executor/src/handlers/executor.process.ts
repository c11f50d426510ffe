import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import type { QueueConsumer } from '@runyard/event-log';
import { Health, Loops } from '@runyard/service';
import type { ExecutorConfig } from '../config';
import { EXECUTOR, EXECUTOR_CONFIG } from '../tokens';
import { CHECK_EVERY_MS } from './drive.process';
import type { Executor } from './assembly.process';
import { SWEEP_EVERY_MS } from './sweep.process';

/** How often the driver's heartbeat is written; readers call a run stale after three missed ones (domain, section 4). */
const HEARTBEAT_EVERY_MS = 10_000;
/** How often it is asked whether a bulk action is left to carry out. */
const BULK_EVERY_MS = 1_000;
/** How often the sweep looks for what only time makes due. */
const OVERDUE_EVERY_MS = 2_000;

/** Starts the executor with the service and stops it in order: take nothing new, record what is under way, hand over. */
@Injectable()
export class ExecutorProcess implements OnApplicationBootstrap, OnModuleDestroy {
  private consumers: QueueConsumer[] = [];

  constructor(
    @Inject(EXECUTOR) private readonly executor: Executor,
    @Inject(EXECUTOR_CONFIG) private readonly config: ExecutorConfig,
    @Inject(Loops) private readonly loops: Loops,
    @Inject(Health) private readonly health: Health,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (!this.config.drive) return;
    const { presence, drivers, intake, work, sweep, retention, operations, bulkActions } = this.executor;
    presence.join(
      (runId, epoch) => drivers.drivesAt(runId, epoch),
      (runId) => drivers.wake(runId),
    );
    this.loops.every('sweep-drivers', SWEEP_EVERY_MS, () => sweep.drivers());
    this.loops.every('sweep-overdue', OVERDUE_EVERY_MS, () => sweep.overdue());
    this.loops.every('retention', this.config.retentionEveryMs, async () => {
      await retention.sweep();
    });
    this.loops.every('bulk-actions', BULK_EVERY_MS, (signal) => bulkActions.round(signal));
    this.loops.every('check-drivers', CHECK_EVERY_MS, () => drivers.check());
    this.loops.every('heartbeat', HEARTBEAT_EVERY_MS, () =>
      operations.heartbeat(drivers.runIds(), presence.instance),
    );
    this.consumers = [await intake.start(), await work.start()];
    this.consumers.forEach((consumer, index) =>
      this.health.watchConsumer(index === 0 ? 'requests' : 'work', consumer),
    );
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.all(this.consumers.map((consumer) => consumer.stop()));
    await this.executor.drivers.stop(this.config.service.shutdownMs);
    this.executor.presence.leave();
    await this.executor.bulkActions.stop();
    await this.executor.tools.close();
  }
}

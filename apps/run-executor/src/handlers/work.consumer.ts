import { RetryLater } from '@runyard/event-log';
import type { QueueConsumer, QueueMessage, WorkQueues } from '@runyard/event-log';
import { isLive, isParked } from '../domain/run';
import type { Drivers } from './drivers.process';
import type { Evidences } from './evidence.process';
import type { RunLog } from './run-log.adapter';

/** Durable name on WORK; data, listed in the README. */
export const WORK_DURABLE = 'run-executor-work';

/** A run that finds no free place here is offered again after this long, to whoever has one. */
const NO_PLACE_MS = 200;

/** Takes runs that were announced as runnable. A message only wakes; the right to drive is the claim in the log (P3.3, C73). */
export class WorkConsumer {
  constructor(
    private readonly queues: WorkQueues,
    private readonly runs: RunLog,
    private readonly drivers: Drivers,
    private readonly evidences: Evidences,
    private readonly concurrency: number,
  ) {}

  start(): Promise<QueueConsumer> {
    return this.queues.consume({
      queue: 'WORK',
      durable: WORK_DURABLE,
      concurrency: this.concurrency,
      // Without a place nobody is at fault: the message waits as long as it takes.
      maxAttempts: Number.MAX_SAFE_INTEGER,
      handler: (message) => this.handle(message),
    });
  }

  async handle(message: QueueMessage): Promise<void> {
    const [, , , org, runId] = message.subject.split('.');
    if (!org || !runId) return;
    if (this.drivers.has(runId)) return;
    // Asked before the log is: with all places taken, every waiting run would be read several times a second.
    if (this.drivers.free === 0) throw noPlace(runId);
    const { run } = await this.runs.glance(org, runId);
    if (!isLive(run) || isParked(run)) return;
    const evidence = await this.evidences.against(runId, run);
    if (evidence === 'driven') return;
    if (evidence === 'unclear') throw new RetryLater(NO_PLACE_MS, `run ${runId}: its driver does not answer`);
    if ((await this.drivers.takeOver(org, runId, evidence, { epoch: run.epoch })) === 'no_place')
      throw noPlace(runId);
  }
}

const noPlace = (runId: string): RetryLater => new RetryLater(NO_PLACE_MS, `run ${runId}: no free place`);

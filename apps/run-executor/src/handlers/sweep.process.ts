import type { OperationsQueries, OpenRun } from '../projections/operations.queries';
import { lostEffects } from '../domain/claim';
import { expirePause, forceCancel } from '../domain/controls';
import type { NewRunEvent } from '../domain/decision';
import { end } from '../domain/next';
import { isLive } from '../domain/run';
import type { LiveRun } from '../domain/run';
import { VersionConflict } from '@runyard/event-log';
import type { Drivers } from './drivers.process';
import { STALE_AFTER_MS } from './evidence.process';
import type { Evidences } from './evidence.process';
import type { Intake } from './intake.process';
import type { RunLog } from './run-log.adapter';

/** How often the sweep looks; with TWICE_APART_MS it bounds how long a dead executor's runs stand still. */
export const SWEEP_EVERY_MS = 300;
/** A queued run that nobody has claimed for this long is announced again. */
const UNCLAIMED_MS = 5_000;
/** A driver has this long to obey a cancel before the sweep closes the run (P5.1). */
const OBEY_WITHIN_MS = 10_000;
/** A slot whose run has no log after this long belongs to a request that was lost (P2.6). */
const UNBORN_MS = 60_000;
/** Runs that one sweep takes up. */
const AT_ONCE = 64;
/** A run whose drivers failed this often in a row cannot be continued here (domain, section 4). */
const FAILED_DRIVES = 5;

export interface SweepPorts {
  operations: OperationsQueries;
  runs: RunLog;
  drivers: Drivers;
  evidences: Evidences;
  intake: Intake;
  instance: string;
  clock: () => number;
  release: (org: string, runId: string) => Promise<void>;
  enqueue: (org: string, runId: string) => Promise<void>;
}

/**
 * Finds runs that nobody drives. Tables only say where to look; what is done about a run is decided on its log and
 * appended under expectation, so that any number of sweeps may run at once (P3.3).
 */
export class Sweep {
  private readonly failures = new Map<string, number>();
  private turn = 0;

  constructor(private readonly ports: SweepPorts) {}

  /** The frequent part: drivers that are gone. */
  async drivers(): Promise<void> {
    const { operations, evidences, instance } = this.ports;
    await this.abandoned();
    const others = await operations.otherInstances(instance);
    await Promise.all(
      others.map(async (other) => {
        if (await evidences.gone(other)) await this.takeOverAll(await operations.runsOf(other, AT_ONCE));
      }),
    );
  }

  /** The rare part: what only time makes due. */
  async overdue(): Promise<void> {
    const { operations, intake, enqueue } = this.ports;
    for (const run of await operations.unclaimed(UNCLAIMED_MS, AT_ONCE)) await enqueue(run.org, run.runId);
    for (const run of await operations.expiredPauses(AT_ONCE))
      await this.close(run, (live) => expirePause(live, this.ports.clock()));
    for (const run of await operations.overdueCancels(OBEY_WITHIN_MS, AT_ONCE)) await this.close(run, forceCancel);
    for (const run of await operations.unbornSlots(UNBORN_MS, AT_ONCE)) await intake.fence(run.org, run.runId);
    for (const run of await operations.endedHolders(AT_ONCE)) await this.ports.release(run.org, run.runId);
    for (const run of await operations.silentDrivers(STALE_AFTER_MS, AT_ONCE)) await this.judge(run);
  }

  /** Runs that the tables give to this process and that it does not drive: their driver failed. */
  private async abandoned(): Promise<void> {
    const { operations, drivers, instance } = this.ports;
    const mine = await operations.runsOf(instance, AT_ONCE);
    const lost = mine.filter((run) => !drivers.has(run.runId));
    for (const runId of this.failures.keys()) if (!mine.some((run) => run.runId === runId)) this.failures.delete(runId);
    for (const run of lost) await this.judge(run);
  }

  private async takeOverAll(runs: OpenRun[]): Promise<void> {
    // Several survivors start at different ends, so that they meet less often; the log settles where they do.
    const order = this.turn++ % 2 === 0 ? runs : runs.toReversed();
    await Promise.all(
      order
        .filter((run) => !this.ports.drivers.has(run.runId))
        .slice(0, this.ports.drivers.free)
        .map((run) => this.ports.drivers.takeOver(run.org, run.runId, 'no_responders')),
    );
  }

  /** Looks at one suspicious run on its log. */
  private async judge(suspect: OpenRun): Promise<void> {
    const { runs, evidences, drivers, instance, release } = this.ports;
    const { run } = await runs.glance(suspect.org, suspect.runId);
    if (!isLive(run)) return run.situation === 'ended' ? release(suspect.org, suspect.runId) : undefined;
    if (run.situation === 'paused') return;
    const verdict = await evidences.against(suspect.runId, run);
    if (verdict === 'driven' || verdict === 'unclear') return;
    if (run.instance === instance && this.failedOften(suspect.runId)) return this.close(suspect, stale);
    await drivers.takeOver(suspect.org, suspect.runId, verdict);
  }

  private failedOften(runId: string): boolean {
    const times = (this.failures.get(runId) ?? 0) + 1;
    this.failures.set(runId, times);
    return times > FAILED_DRIVES;
  }

  /** Appends what `decide` says of a run as it stands; a conflict means that somebody else moved it, which is as good. */
  private async close({ org, runId }: OpenRun, decide: (run: LiveRun) => NewRunEvent[]): Promise<void> {
    const loaded = await this.ports.runs.glance(org, runId);
    const events = isLive(loaded.run) ? decide(loaded.run) : [];
    if (events.length === 0) return;
    try {
      await this.ports.runs.append(loaded, events, 'system:run-executor');
      await this.ports.release(org, runId);
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
    }
  }
}

function stale(run: LiveRun): NewRunEvent[] {
  const error = { code: 'stale', text: 'The run could not be continued: its drivers failed again and again.' };
  const failed: NewRunEvent = { type: 'RunFailed', data: { termination: 'Error', reason: 'stale', error } };
  return [...lostEffects(run), ...end(run, failed)];
}

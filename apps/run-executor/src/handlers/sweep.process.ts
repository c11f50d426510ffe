import type { OperationsQueries, OpenRun } from '../projections/operations.queries';
import { lostEffects } from '../domain/claim';
import type { Evidence } from '../domain/claim';
import { expirePause, forceCancel } from '../domain/controls';
import type { NewRunEvent } from '../domain/decision';
import { end } from '../domain/next';
import { openChildren } from '../domain/children';
import { isLive, isParked } from '../domain/run';
import type { LiveRun } from '../domain/run';
import { LogUnavailable, UnknownEvent, VersionConflict } from '@runyard/event-log';
import { isPassing } from '@runyard/persistence';
import type { Children } from './children.process';
import type { Drivers } from './drivers.process';
import { STALE_AFTER_MS } from './evidence.process';
import type { Evidences } from './evidence.process';
import type { Intake } from './intake.process';
import type { RunLog } from './run-log.adapter';
import type { WaitingRuns } from './waiting.process';

/** How often the sweep looks; with TWICE_APART_MS it bounds how long a dead executor's runs stand still. */
export const SWEEP_EVERY_MS = 300;
/** A queued run that nobody has claimed for this long is claimed without an announcement. */
const UNCLAIMED_MS = 5_000;
/** A driver has this long to obey a cancel before the sweep closes the run (P5.1). */
const OBEY_WITHIN_MS = 10_000;
/** A slot whose run has no log after this long belongs to a request that was lost (P2.6). */
const UNBORN_MS = 60_000;
/** Runs that one sweep takes up. */
const AT_ONCE = 64;
/** A run whose drivers failed this often in a row cannot be continued here (domain, section 4). */
const FAILED_DRIVES = 5;
/** Runs that cannot be looked after are met several times a second; that much is not for the log. */
const COMPLAIN_EVERY_MS = 60_000;

export interface SweepPorts {
  operations: OperationsQueries;
  runs: RunLog;
  drivers: Drivers;
  evidences: Evidences;
  intake: Intake;
  instance: string;
  clock: () => number;
  children: Children;
  waiting: WaitingRuns;
  release: (org: string, runId: string) => Promise<void>;
  log: { warn(facts: object, message: string): void };
}

/**
 * Finds runs that nobody drives. Tables only say where to look; what is done about a run is decided on its log and
 * appended under expectation, so that any number of sweeps may run at once (P3.3).
 */
export class Sweep {
  /** Take-overs of runs whose driver failed here, until their rows name another process or an end. */
  private readonly failures = new Map<string, number>();
  /** Runs that the last round found without a driver here. */
  private suspects: ReadonlySet<string> = new Set();
  private turn = 0;
  private complainedAt = -Infinity;

  constructor(private readonly ports: SweepPorts) {}

  /** The frequent part: drivers that are gone. */
  async drivers(): Promise<void> {
    const { operations, evidences, instance } = this.ports;
    await this.abandoned();
    const others = await operations.otherInstances(instance);
    await Promise.all(
      others.map(async (other) => {
        if (await evidences.gone(other))
          await this.takeOverAll(other, await operations.runsOf(other, AT_ONCE));
      }),
    );
  }

  /** The rare part: what only time makes due. */
  async overdue(): Promise<void> {
    const { operations, drivers, intake, clock, release } = this.ports;
    await this.each(await operations.expiredPauses(AT_ONCE), (run) =>
      this.close(run, (live) => expirePause(live, clock())),
    );
    await this.each(await operations.overdueCancels(OBEY_WITHIN_MS, AT_ONCE), (run) =>
      this.close(run, forceCancel),
    );
    await this.each(await this.ports.waiting.due(), (run) => this.ports.children.nudge(run.org, run.runId));
    await this.each(await operations.unbornSlots(UNBORN_MS, AT_ONCE), (run) =>
      intake.fence(run.org, run.runId),
    );
    await this.each(await operations.endedHolders(AT_ONCE), (run) => release(run.org, run.runId));
    // Claimed here instead of announced again: while all places are taken, announcements would pile up.
    const free = Math.min(AT_ONCE, drivers.free);
    if (free > 0) await this.each(await operations.unclaimed(UNCLAIMED_MS, free), (run) => this.judge(run));
    await this.each(await operations.silentDrivers(STALE_AFTER_MS, AT_ONCE), (run) => this.judge(run));
  }

  /**
   * Runs that the tables give to this process and that it does not drive: their driver failed, or they have ended and the
   * rows do not know yet. Only what a second round still finds is looked up in the log, since under load most have ended.
   */
  private async abandoned(): Promise<void> {
    const { operations, drivers, instance } = this.ports;
    const mine = await operations.runsOf(instance, AT_ONCE);
    for (const runId of this.failures.keys())
      if (!mine.some((run) => run.runId === runId)) this.failures.delete(runId);
    const lost = mine.filter((run) => !drivers.has(run.runId));
    const suspected = lost.filter((run) => this.suspects.has(run.runId));
    this.suspects = new Set(lost.map((run) => run.runId));
    await this.each(suspected, (run) => this.judge(run));
  }

  private async takeOverAll(instance: string, runs: OpenRun[]): Promise<void> {
    const { drivers } = this.ports;
    // Several survivors start at different ends, so that they meet less often; the log settles where they do.
    const order = this.turn++ % 2 === 0 ? runs : runs.toReversed();
    const lost = order.filter((run) => !drivers.has(run.runId)).slice(0, drivers.free);
    await this.each(lost, (run) => drivers.takeOver(run.org, run.runId, 'no_responders', { instance }));
  }

  /** Looks after runs side by side. One that cannot be looked after must not keep the others from it, nor slow the sweep down. */
  private async each(runs: readonly OpenRun[], look: (run: OpenRun) => Promise<unknown>): Promise<void> {
    await Promise.all(runs.map((run) => look(run).catch((error: unknown) => this.complain(run, error))));
  }

  private complain({ org, runId: run }: OpenRun, error: unknown): void {
    if (isNobodysFault(error)) throw error;
    const now = this.ports.clock();
    if (now - this.complainedAt < COMPLAIN_EVERY_MS) return;
    this.complainedAt = now;
    this.ports.log.warn({ err: error, run, org }, 'a run could not be looked after; there may be others');
  }

  /** Looks at one suspicious run on its log. */
  private async judge(suspect: OpenRun): Promise<void> {
    const { runs, evidences, instance, release } = this.ports;
    const { run } = await runs.glance(suspect.org, suspect.runId);
    if (!isLive(run)) return run.situation === 'ended' ? release(suspect.org, suspect.runId) : undefined;
    if (isParked(run)) return;
    const verdict = await evidences.against(suspect.runId, run);
    if (verdict === 'driven' || verdict === 'unclear') return;
    const failedHere = run.instance === instance && verdict !== 'woken';
    if (failedHere && (this.failures.get(suspect.runId) ?? 0) >= FAILED_DRIVES)
      return this.close(suspect, stale);
    await this.takeOver(suspect, verdict, run.epoch, failedHere);
  }

  /** Only a take-over that came about, or that cannot, counts as another failed drive: a process without a free place proves nothing. */
  private async takeOver(
    { org, runId }: OpenRun,
    evidence: Evidence,
    epoch: number,
    counts: boolean,
  ): Promise<void> {
    const count = () => void (counts && this.failures.set(runId, (this.failures.get(runId) ?? 0) + 1));
    try {
      if ((await this.ports.drivers.takeOver(org, runId, evidence, { epoch })) === 'driving') count();
    } catch (error) {
      if (!isNobodysFault(error)) count();
      throw error;
    }
  }

  /**
   * Appends what `decide` says of a run as it stands; a conflict means that somebody else moved it, which is as good. What
   * does not fit a commit is decided again the next time.
   */
  private async close({ org, runId }: OpenRun, decide: (run: LiveRun) => NewRunEvent[]): Promise<void> {
    const loaded = await this.ports.runs.glance(org, runId);
    const events = isLive(loaded.run) ? decide(loaded.run) : [];
    if (events.length === 0) return;
    // Its children have to end first (P6.5); a later round closes it then.
    if (isLive(loaded.run) && openChildren(loaded.run).length > 0)
      return this.ports.children.cancelAll(org, runId, loaded.run);
    try {
      const { count } = await this.ports.runs.appendWhatFits(loaded, events, 'system:run-executor');
      if (count === events.length && isLive(loaded.run))
        await this.ports.children.ended(org, runId, loaded.run.identity.parentRunId);
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
    }
  }
}

/** The log or the database is away: all runs fare alike, and the sweep comes again. An event that only a newer version knows is the run's own. */
const isNobodysFault = (error: unknown): boolean =>
  !(error instanceof UnknownEvent) && (error instanceof LogUnavailable || isPassing(error));

function stale(run: LiveRun): NewRunEvent[] {
  const error = {
    code: 'stale',
    text: 'The run could not be continued: its drivers failed again and again.',
  };
  return end(
    run,
    { type: 'RunFailed', data: { termination: 'Error', reason: 'stale', error } },
    lostEffects(run),
  );
}

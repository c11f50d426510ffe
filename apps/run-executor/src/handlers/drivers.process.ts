import type { DefinitionSnapshot } from '@runyard/contracts';
import { VersionConflict } from '@runyard/event-log';
import { claim } from '../domain/claim';
import type { Evidence } from '../domain/claim';
import { withoutDefinition } from '../domain/controls';
import { dated, decideAll, foldNew } from '../domain/next';
import { fold } from '../domain/evolve';
import { isLive, isParked, type LiveRun } from '../domain/run';
import type { Definitions } from './definitions.adapter';
import { doneWithin } from './alarm.process';
import { Driver } from './drive.process';
import type { DrivePorts } from './drive.process';
import { speaksAgainst, type Accused } from './evidence.process';
import type { RegistryFacts } from './registry.adapter';
import type { LoadedRun } from './run-log.adapter';
import { endIfStopped } from './stopped-agents.process';
import type { Wakings } from './wakings.process';

/** What was broken off is recorded within this time, milliseconds. */
const FAREWELL_MS = 3_000;

/** What a take-over came to. */
export type TakeOver = 'driving' | 'nothing_to_do' | 'no_place';

export interface DriversPorts extends DrivePorts {
  definitions: Definitions;
  wakings: Wakings;
  registry: Pick<RegistryFacts, 'agentAndOwner'>;
  /** Runs that this process drives at once. */
  places: number;
  /** Frees what a run held, after its terminal event. */
  release: (org: string, runId: string) => Promise<void>;
  /** Announces a run as runnable on the work queue. */
  enqueue: (org: string, runId: string) => Promise<void>;
  log: { warn(facts: object, message: string): void; error(facts: object, message: string): void };
}

/** The runs that this process drives. A run is registered here before its claim is appended (P3.1). */
export class Drivers {
  private readonly registered = new Map<string, { epoch: number; driver: Driver | null }>();
  private readonly drives = new Set<Promise<void>>();
  private stopping = false;

  constructor(private readonly ports: DriversPorts) {}

  get free(): number {
    return this.stopping ? 0 : Math.max(0, this.ports.places - this.registered.size);
  }

  runIds(): string[] {
    return [...this.registered.keys()];
  }

  drivesAt(runId: string, epoch: number): boolean {
    return this.registered.get(runId)?.epoch === epoch;
  }

  has(runId: string): boolean {
    return this.registered.has(runId);
  }

  wake(runId: string): void {
    this.registered.get(runId)?.driver?.wake();
  }

  /** Lets every driver look whether its run moved without it (P3.5). */
  async check(): Promise<void> {
    await Promise.all([...this.registered.values()].map(async ({ driver }) => driver?.check()));
  }

  /** Registers a run at an epoch; false where this process drives it already or has no place. */
  register(runId: string, epoch: number): boolean {
    if (this.free === 0 || this.registered.has(runId)) return false;
    this.registered.set(runId, { epoch, driver: null });
    return true;
  }

  /** Gives a registration back whose claim did not come about. */
  dropUndriven(runId: string): void {
    if (this.registered.get(runId)?.driver === null) this.registered.delete(runId);
  }

  /** Drives a registered run whose claim is in the log. */
  drive(loaded: LoadedRun, definition: DefinitionSnapshot, epoch: number): void {
    const driver = new Driver(this.ports, loaded, definition, epoch);
    this.registered.set(loaded.runId, { epoch, driver });
    if (this.stopping) driver.stop();
    const done = this.follow(driver, loaded, definition).finally(() => this.drives.delete(done));
    this.drives.add(done);
  }

  /**
   * Claims a run on evidence (P3.3) and drives it. Evidence says nothing about a driver that claimed the run after it was
   * gathered: that claim stands. Without `accused` it is against whoever the last claim names.
   */
  async takeOver(org: string, runId: string, evidence: Evidence, accused?: Accused): Promise<TakeOver> {
    for (;;) {
      const loaded = await this.ports.runs.load(org, runId);
      const { run } = loaded;
      if (!isLive(run) || isParked(run)) return 'nothing_to_do';
      if (accused && !speaksAgainst(accused, run)) return 'nothing_to_do';
      if (!this.register(runId, run.epoch + 1)) return this.has(runId) ? 'nothing_to_do' : 'no_place';
      try {
        const claimed = await this.claim(loaded, run, evidence);
        if (claimed === 'again') continue;
        return claimed;
      } finally {
        this.dropUndriven(runId);
      }
    }
  }

  /**
   * Starts nothing new, lets what is under way be recorded, and hands the runs to others. After `withinMs` model calls are
   * broken off, because they may take minutes; a tool that goes on for long after that is left as if the process had died.
   */
  async stop(withinMs = 20_000): Promise<void> {
    this.stopping = true;
    for (const { driver } of this.registered.values()) driver?.stop();
    if (await doneWithin(Promise.all(this.drives), withinMs)) return;
    for (const { driver } of this.registered.values()) driver?.hurry();
    if (!(await doneWithin(Promise.all(this.drives), FAREWELL_MS)))
      this.ports.log.warn({ runs: this.runIds() }, 'runs were left with tool calls under way');
  }

  private async claim(loaded: LoadedRun, run: LiveRun, evidence: Evidence): Promise<TakeOver | 'again'> {
    const definition = await this.ports.definitions.get(loaded.org, run.definition);
    if (!definition) {
      await this.ports.children.closeAfter(loaded, run, withoutDefinition(run));
      return 'nothing_to_do';
    }
    const stopped = await endIfStopped(this.ports, loaded, run);
    if (stopped) return stopped;
    const now = Math.max(this.ports.clock(), run.lastEventAt);
    const claims = claim(run, this.ports.instance, evidence, await this.ports.wakings.budgetOf(loaded, run));
    const claimed = foldNew(run, claims, now, loaded.material);
    const at = await this.ports.asking.circumstances(loaded, claimed, definition, now);
    const events = [...claims, ...decideAll(claimed, at)];
    let count: number;
    try {
      const appended = await this.ports.runs.appendWhatFits(loaded, events, 'system:run-executor', {
        together: claims.length,
      });
      const { time, sequence } = appended;
      count = appended.count;
      loaded.run = fold(
        run,
        events.slice(0, count).map((event) => dated(event, time)),
        loaded.material,
      );
      loaded.sequence = sequence;
    } catch (error) {
      if (error instanceof VersionConflict) return 'again';
      throw error;
    }
    this.drive(loaded, definition, run.epoch + 1);
    if (count < events.length) this.wake(loaded.runId);
    return 'driving';
  }

  private async follow(driver: Driver, loaded: LoadedRun, definition: DefinitionSnapshot): Promise<void> {
    const { org, runId } = loaded;
    try {
      await this.ports.telemetry.driving(loaded, definition, () => driver.drive());
    } catch (error) {
      // Not passed on at once: a run that fails its driver again and again is the sweep's to slow down and to close.
      this.ports.log.error(
        { err: error, run: runId, org },
        'a driver failed; the sweep takes the run up again',
      );
      return;
    } finally {
      this.registered.delete(runId);
    }
    try {
      await this.leave(loaded);
    } catch (error) {
      this.ports.log.warn(
        { err: error, run: runId, org },
        'leaving a run was not finished; the sweep does the rest',
      );
    }
  }

  /** After the last append: frees what the run held, or passes on a run that can go on (P5.2). */
  private async leave(loaded: LoadedRun): Promise<void> {
    const { org, runId, run } = loaded;
    if (run.situation === 'ended') {
      this.ports.runs.keepHistory(loaded);
      // A conversation keeps its last turn, and who competed for nothing holds nothing.
      if (run.slot !== null) await this.ports.release(org, runId);
      const parent = run.identity?.parentRunId;
      if (parent) await this.ports.children.settle(org, parent, runId);
      return;
    }
    const behind = (await this.ports.runs.lastSequence(loaded)) > loaded.sequence;
    const runnable = isLive(run) && run.situation === 'running';
    if (behind || runnable) await this.ports.enqueue(org, runId);
  }
}

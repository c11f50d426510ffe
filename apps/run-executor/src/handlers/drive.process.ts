import type { DefinitionSnapshot } from '@runyard/contracts';
import { VersionConflict } from '@runyard/event-log';
import type { NewRunEvent } from '../domain/decision';
import { dueIn } from '../domain/due';
import { fold } from '../domain/evolve';
import { dated, decideThrough, foldNew } from '../domain/next';
import { isLive, lastEventAt } from '../domain/run';
import type { Run } from '../domain/run';
import { Alarm } from './alarm.process';
import type { Asking } from './asking.adapter';
import { Effects } from './effects.process';
import type { EffectPorts } from './effects.process';
import { circumstancesOf } from './judgement.adapter';
import type { DriveCircumstances, DriveRules } from './judgement.adapter';
import type { LoadedRun, RunLog } from './run-log.adapter';

/** What is announced is sent so soon after the log was asked, or the run is read again: it may be another's by now (P4.2). */
const DISPATCH_WITHIN_MS = 500;
/** Slow reads in a row after which it is sent all the same: where every read is slow, nothing would ever be sent. */
const SLOW_READS = 3;
/** A control may arrive without a wake-up; with an effect under way the run's last sequence is compared this often (P3.5). */
export const CHECK_EVERY_MS = 2_000;

export interface DrivePorts extends EffectPorts, DriveRules {
  runs: RunLog;
  instance: string;
  asking: Asking;
}

/**
 * Drives one claimed run: starts the effects that the log has announced, records what becomes of them, decides what
 * follows, all in one commit, and goes on. Invariants:
 *
 * 1. Nothing is dispatched before the commit that announces it is acknowledged.
 * 2. Facts are appended before anything that follows from them starts, and are never dropped.
 * 3. A foreign claim or a terminal event in the log ends this driver at its next append at the latest.
 */
export class Driver {
  private readonly facts: NewRunEvent[] = [];
  private readonly effects: Effects;
  private readonly at: DriveCircumstances;
  private readonly alarm = new Alarm();
  private mustRead = false;
  private slowReads = 0;
  private stopping = false;
  private crash: unknown = null;
  /** What was due by then has been decided. */
  private decidedAt = 0;

  constructor(
    private readonly ports: DrivePorts,
    private readonly loaded: LoadedRun,
    private readonly definition: DefinitionSnapshot,
    readonly epoch: number,
  ) {
    this.at = circumstancesOf(loaded, definition, ports);
    this.effects = new Effects(ports, loaded, definition, this.at, {
      fact: (fact) => this.put(fact),
      crash: (error) => {
        this.crash = error;
        this.alarm.ring();
      },
    });
  }

  /** Runs until the run has ended, is parked, or belongs to somebody else; resolves to where it stands then. */
  async drive(): Promise<Run> {
    try {
      while (this.mine()) {
        this.effects.obey(this.run, this.ports.clock());
        if (this.tooLate()) this.mustRead = true;
        if (!this.mustRead) {
          this.slowReads = 0;
          this.effects.start(this.run, this.ports.clock(), this.stopping);
        }
        if (this.handedOver()) break;
        await this.nextFact();
        if (this.crash) throw this.crash;
        if (this.mustRead) await this.refresh();
        if (this.mine()) await this.commit(this.facts.splice(0));
      }
    } finally {
      this.effects.abort();
    }
    return this.run;
  }

  /** Something may have been appended by others: read before the next step. */
  wake(): void {
    this.mustRead = true;
    this.alarm.ring();
  }

  /** Starts nothing new, records what is under way, and leaves the run where another instance can go on at no cost. */
  stop(): void {
    this.stopping = true;
    this.alarm.ring();
  }

  /** Breaks off a model call; what it cost is recorded, and whoever takes over asks again. */
  readonly hurry = (): void => this.effects.abort('model');

  /** Compares the run's last sequence with ours: a wake-up may be lost (P3.5). */
  async check(): Promise<void> {
    if (this.mustRead) return;
    if ((await this.ports.runs.lastSequence(this.loaded)) > this.loaded.sequence) this.wake();
  }

  private get run(): Run {
    return this.loaded.run;
  }
  private mine(): boolean {
    const { run } = this;
    return isLive(run) && run.situation === 'running' && !run.woken && run.epoch === this.epoch;
  }

  /** Whether what is announced and not sent yet needs another look at the log first. */
  private tooLate(): boolean {
    const age = performance.now() - this.loaded.freshAt;
    return age > DISPATCH_WITHIN_MS && this.slowReads < SLOW_READS && this.effects.hasUnsent(this.run);
  }

  private handedOver(): boolean {
    return this.stopping && !this.mustRead && this.effects.count === 0 && this.facts.length === 0;
  }

  private put(fact: NewRunEvent): void {
    this.facts.push(fact);
    this.alarm.ring();
  }

  /** Waits for a fact, a wake-up, or the time at which something becomes due. */
  private async nextFact(): Promise<void> {
    if (this.facts.length > 0 || this.mustRead || this.crash) return;
    const due = dueIn(this.run, this.ports.clock(), this.decidedAt);
    await this.alarm.sleep(due);
  }

  /**
   * Appends facts and what follows from them, in one commit unless they are too many; on a conflict what came in between
   * is folded in and decided anew (P3.2).
   */
  private async commit(facts: readonly NewRunEvent[]): Promise<void> {
    let left = facts;
    while (this.mine()) {
      const now = Math.max(this.ports.clock(), lastEventAt(this.run));
      const { events, after } = await this.decide(left, now);
      this.decidedAt = now;
      if (events.length === 0) return;
      try {
        const { count, time, sequence } = await this.ports.runs.appendWhatFits(
          this.loaded,
          events,
          'system:run-executor',
          { at: now },
        );
        if (count === events.length && time === now) return this.moveTo(after, sequence);
        this.advance(
          events.slice(0, count).map((event) => dated(event, time)),
          sequence,
        );
        if (count === events.length) return;
        left = left.slice(count);
      } catch (error) {
        if (!(error instanceof VersionConflict)) throw error;
        await this.refresh();
      }
    }
  }

  /** The facts and what follows from them, and where the run stands once all of it is in the log. */
  private async decide(
    facts: readonly NewRunEvent[],
    now: number,
  ): Promise<ReturnType<typeof decideThrough>> {
    const { material, org, runId } = this.loaded;
    const known = foldNew(this.run, facts, now, material);
    if (this.stopping) return { events: [...facts], after: known };
    const approvals = await this.ports.asking.about(org, runId, known);
    const { events, after } = decideThrough(known, { ...this.at, now, approvals }, material);
    return { events: [...facts, ...events], after };
  }

  private async refresh(): Promise<void> {
    this.mustRead = false;
    const { events, sequence } = await this.ports.runs.since(this.loaded);
    this.slowReads = performance.now() - this.loaded.freshAt > DISPATCH_WITHIN_MS ? this.slowReads + 1 : 0;
    this.advance(events, sequence);
  }

  private advance(events: Parameters<typeof fold>[1], sequence: number): void {
    this.moveTo(fold(this.run, events, this.loaded.material), sequence);
  }

  private moveTo(run: Run, sequence: number): void {
    this.loaded.run = run;
    this.loaded.sequence = sequence;
  }
}

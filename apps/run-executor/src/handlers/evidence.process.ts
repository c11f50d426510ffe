import { setTimeout as wait } from 'node:timers/promises';
import type { Evidence } from '../domain/claim';
import type { LiveRun } from '../domain/run';
import type { Presence } from './presence.adapter';

/** A process counts as dead when nobody answered for it twice, this far apart (P3.3a). */
export const TWICE_APART_MS = 250;
/** Silence of a driver that makes its run stale (P3.3c). */
export const STALE_AFTER_MS = 90_000;
/** Our own connection must have been up this long before its "no responders" counts (P3.3a). */
const CONNECTION_SETTLED_MS = 2_000;

export type Verdict = Evidence | 'driven' | 'unclear';

/** Whom evidence speaks against: the driver of an epoch, or an instance that is gone. */
export type Accused = { epoch: number } | { instance: string };

export const speaksAgainst = (accused: Accused, run: LiveRun): boolean =>
  'epoch' in accused
    ? accused.epoch === run.epoch
    : run.woken || run.instance === null || run.instance === accused.instance;

/** Evidence against the driver named in a run's last claim. Never a timestamp alone (P3.3). */
export class Evidences {
  constructor(
    private readonly presence: Presence,
    private readonly connectedForMs: () => number,
    /** Age of the driver's heartbeat by the database clock; null: none is known. */
    private readonly heartbeatAgeMs: (runId: string) => Promise<number | null>,
  ) {}

  async against(runId: string, run: LiveRun): Promise<Verdict> {
    if (run.situation === 'queued' || run.woken || run.instance === null) return 'woken';
    const answer = await this.presence.ask(run.instance, { run_id: runId, epoch: run.epoch });
    if (answer === 'mine') return 'driven';
    if (answer === 'not_mine') return 'not_mine';
    if (answer === 'no_responders') return (await this.isGone(run.instance)) ? 'no_responders' : 'unclear';
    const age = await this.heartbeatAgeMs(runId);
    return age !== null && age > STALE_AFTER_MS ? 'silent' : 'unclear';
  }

  /** Whether an instance is dead: nobody answers for it, twice. */
  async gone(instance: string): Promise<boolean> {
    return (await this.presence.ask(instance)) === 'no_responders' && this.isGone(instance);
  }

  /** The second question to an instance that did not answer the first. */
  private async isGone(instance: string): Promise<boolean> {
    if (this.connectedForMs() < CONNECTION_SETTLED_MS) return false;
    await wait(TWICE_APART_MS);
    return (await this.presence.ask(instance)) === 'no_responders';
  }
}

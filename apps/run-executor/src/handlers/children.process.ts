import { requestSubject, TRACE_HEADER } from '@runyard/contracts';
import type { RunEvent } from '@runyard/contracts';
import { VersionConflict } from '@runyard/event-log';
import type { WorkQueues } from '@runyard/event-log';
import type { Tx } from '@runyard/persistence';
import { currentContext } from '@runyard/service';
import { openChildren } from '../domain/children';
import type { DelegatedCall } from '../domain/children';
import { decideControl } from '../domain/controls';
import type { NewRunEvent } from '../domain/decision';
import { foldNew } from '../domain/next';
import { isLive } from '../domain/run';
import type { LiveRun, Run } from '../domain/run';
import { settleChild } from '../domain/settlement';
import type { ChildEnd } from '../domain/settlement';
import { childRequest } from './child-request';
import type { Presence } from './presence.adapter';
import type { LoadedRun, RunLog } from './run-log.adapter';

export interface ChildrenPorts {
  runs: RunLog;
  queues: WorkQueues;
  presence: Presence;
  /** Frees what an ended run held; `within` a transaction where there is one, since no second one may be opened. */
  release: (org: string, runId: string, within?: Tx) => Promise<void>;
  enqueue: (org: string, runId: string) => Promise<void>;
  clock: () => number;
  pauseTtlMs: number;
}

const SELF = 'system:run-executor';

/**
 * What a run and the runs that it delegated to have to do with each other. Everything here is an append under expectation
 * to one of the two logs, decided on it as it stands, so that any number of processes may do it at once and again:
 *
 * 1. A child is asked for only after the commit that grants it.
 * 2. A cancelled child that was not born yet is fenced: its id is closed before intake can use it.
 * 3. A child is settled only from the end in its own log, and once.
 */
export class Children {
  constructor(private readonly ports: ChildrenPorts) {}

  /** The same within a transaction that is under way. */
  within(tx: Tx): Children {
    const release = (org: string, runId: string) => this.ports.release(org, runId, tx);
    return new Children({ ...this.ports, release });
  }

  /**
   * Asks intake for the run that a call is; the fact that this is done. Again and again at no harm. The child's spans join
   * the trace of the work in hand, or that of `traceparent`.
   */
  async request(
    org: string,
    parentRunId: string,
    call: DelegatedCall,
    traceparent = currentContext()?.traceparent,
  ): Promise<NewRunEvent> {
    const headers: Record<string, string> = traceparent === undefined ? {} : { [TRACE_HEADER]: traceparent };
    await this.ports.queues.publish(requestSubject(org), childRequest(parentRunId, call), headers);
    return { type: 'ChildRequested', data: { callId: call.callId, childRunId: call.child.runId } };
  }

  /** Cancels every open child of a run and all below them; resolves when all have been asked. */
  async cancelAll(org: string, parentRunId: string, parent?: Run): Promise<void> {
    const run = parent ?? (await this.ports.runs.glance(org, parentRunId)).run;
    if (!isLive(run)) return;
    await Promise.all(openChildren(run).map(({ child }) => this.cancel(org, parentRunId, child.runId)));
  }

  /** Cancels one child and all below it. One that has ended by now is settled. */
  async cancel(org: string, parentRunId: string, childRunId: string): Promise<void> {
    for (;;) {
      const loaded = await this.ports.runs.glance(org, childRunId);
      const events = cancelOf(loaded, parentRunId);
      try {
        const after = events.length > 0 ? await this.append(loaded, events) : loaded.run;
        if (after.situation === 'ended') return await this.ended(org, childRunId, parentRunId);
        if (isLive(after) && after.instance && !after.woken)
          this.ports.presence.wake(after.instance, childRunId);
        return await this.cancelAll(org, childRunId, after);
      } catch (error) {
        if (!(error instanceof VersionConflict)) throw error;
      }
    }
  }

  /** Settles a child that has ended in its parent and wakes that; nothing where it has not ended or was settled before. */
  async settle(org: string, parentRunId: string, childRunId: string): Promise<void> {
    const end = await this.endOf(org, childRunId);
    if (!end) return;
    for (;;) {
      const parent = await this.ports.runs.glance(org, parentRunId);
      const at = { now: this.now(parent), pauseTtlMs: this.ports.pauseTtlMs };
      const events = settleChild(parent.run, childRunId, end, at);
      if (events.length === 0) return;
      try {
        return await this.follow(parent, await this.append(parent, events, at.now));
      } catch (error) {
        if (!(error instanceof VersionConflict)) throw error;
      }
    }
  }

  /** After a terminal event: what the run held is free, and its parent learns of it. */
  async ended(org: string, runId: string, parentRunId: string | null): Promise<void> {
    await this.ports.release(org, runId);
    if (parentRunId !== null) await this.settle(org, parentRunId, runId);
  }

  /** Closes a run that cannot go on; as long as it has children they have to end first (P6.5), and whoever finds it again closes it. */
  async closeAfter(loaded: LoadedRun, run: LiveRun, end: NewRunEvent[]): Promise<void> {
    const { org, runId } = loaded;
    if (openChildren(run).length > 0) return this.cancelAll(org, runId, run);
    await this.append(loaded, end);
    await this.ended(org, runId, run.identity.parentRunId);
  }

  /** A run that nobody may drive is looked at again: children without a log are asked for again, ended ones are settled. */
  async nudge(org: string, parentRunId: string): Promise<void> {
    const { run, traceparent } = await this.ports.runs.load(org, parentRunId);
    if (!isLive(run)) return;
    for (const call of openChildren(run)) {
      const { run: child } = await this.ports.runs.glance(org, call.child.runId);
      if (child.situation === 'ended') await this.settle(org, parentRunId, call.child.runId);
      else if (run.cancelRequested) await this.cancel(org, parentRunId, call.child.runId);
      else if (child.situation === 'none') await this.request(org, parentRunId, call, traceparent);
    }
  }

  private async append(loaded: LoadedRun, events: NewRunEvent[], at?: number): Promise<Run> {
    const { time } = await this.ports.runs.append(loaded, events, SELF, at);
    return foldNew(loaded.run, events, time);
  }

  private now({ run }: LoadedRun): number {
    return Math.max(this.ports.clock(), run.situation === 'none' ? 0 : run.lastEventAt);
  }

  private async endOf(org: string, childRunId: string): Promise<ChildEnd | undefined> {
    const subject = this.ports.runs.subject(org, childRunId);
    const { events, sequence } = await this.ports.runs.since({ subject, sequence: 0, freshAt: 0 });
    const event = events.find(isEnd);
    return event && { event, sequence };
  }

  /** After the append to a parent: whoever drives or may drive it learns of it; one that it ended is settled in turn. */
  private async follow({ org, runId }: LoadedRun, after: Run): Promise<void> {
    if (after.situation === 'ended') return this.ended(org, runId, after.identity?.parentRunId ?? null);
    if (!isLive(after)) return;
    if (after.woken) return this.ports.enqueue(org, runId);
    if (after.situation === 'running' && after.instance) this.ports.presence.wake(after.instance, runId);
  }
}

const isEnd = (event: RunEvent): event is ChildEnd['event'] =>
  event.type === 'RunSucceeded' ||
  event.type === 'RunFailed' ||
  event.type === 'RunCancelled' ||
  event.type === 'RunSkipped';

/** Invariant 2: without a log the id is closed; otherwise it is an ordinary cancel. */
function cancelOf({ run }: LoadedRun, parentRunId: string): NewRunEvent[] {
  if (run.situation === 'none') return [{ type: 'RunCancelled', data: { reason: 'parent', parentRunId } }];
  return isLive(run) ? decideControl(run, { type: 'CancelRun', reason: 'parent' }) : [];
}

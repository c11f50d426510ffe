import { openChildren } from '../domain/children';
import type { NewRunEvent } from '../domain/decision';
import type { CallState, LiveRun } from '../domain/run';
import type { Children } from './children.process';

/** What the driver of a run does about its children: ask for them, and cancel them where the run is to end. */
export class ChildEffects {
  private readonly cancelled = new Set<string>();

  constructor(
    private readonly children: Children,
    private readonly org: string,
    private readonly runId: string,
  ) {}

  /** What asks for the run that a call is; null: that was done. Undefined: the call is no run. */
  requestFor(call: CallState): (() => Promise<NewRunEvent>) | null | undefined {
    const { child } = call;
    if (!child) return undefined;
    return child.requested ? null : () => this.children.request(this.org, this.runId, { ...call, child });
  }

  /** Once each; what becomes of it is in the children's logs, and reaction and sweep see to it as well. */
  cancel(run: LiveRun): void {
    for (const { callId, child } of openChildren(run)) {
      if (this.cancelled.has(callId)) continue;
      this.cancelled.add(callId);
      this.children.cancel(this.org, this.runId, child.runId).catch(() => this.cancelled.delete(callId));
    }
  }
}

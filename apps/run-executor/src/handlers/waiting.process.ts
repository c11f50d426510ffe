import type { OpenRun } from '../projections/operations.queries';

/** A run that waits for its children is looked at so often. */
export const LOOK_EVERY_MS = 20_000;
/** Runs that one look takes. */
const AT_ONCE = 64;

/**
 * Runs that have waited for their children for long, each once in a while: the message that was to start a child may have
 * been lost, or the one that was to settle it. Waiting for days is no fault, so that not all are looked at every time.
 */
export class WaitingRuns {
  private readonly looked = new Map<string, number>();

  constructor(
    private readonly longWaiting: (ms: number, limit: number) => Promise<OpenRun[]>,
    private readonly clock: () => number,
    private readonly everyMs = LOOK_EVERY_MS,
  ) {}

  /** Those whose turn it is. */
  async due(): Promise<OpenRun[]> {
    const now = this.clock();
    const runs = await this.longWaiting(this.everyMs, AT_ONCE * 16);
    const waiting = new Set(runs.map(({ runId }) => runId));
    for (const runId of this.looked.keys()) if (!waiting.has(runId)) this.looked.delete(runId);
    const turn = ({ runId }: OpenRun) => now - (this.looked.get(runId) ?? -Infinity) >= this.everyMs;
    const due = runs.filter(turn).slice(0, AT_ONCE);
    for (const { runId } of due) this.looked.set(runId, now);
    return due;
  }
}

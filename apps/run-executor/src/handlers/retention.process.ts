import { VersionConflict } from '@runyard/event-log';
import { decideControl } from '../domain/controls';
import type { OperationsQueries } from '../projections/operations.queries';
import type { RunLog } from './run-log.adapter';

/** Who deletes what an org does not keep; stands in the event. */
const ACTOR = 'system:retention';
/** Runs that are deleted between two looks. */
const AT_ONCE = 100;

export interface RetentionPorts {
  operations: Pick<OperationsQueries, 'outlived'>;
  runs: Pick<RunLog, 'glance' | 'append'>;
}

/**
 * Deletes ended runs that are older than their org keeps them: rows go at once, and the operators' sweep erases log and
 * archive. Any number of instances may do it at once: the log lets one delete a run.
 */
export class Retention {
  constructor(private readonly ports: RetentionPorts) {}

  /** Goes on until nothing is left; returns how many runs it deleted. */
  async sweep(): Promise<number> {
    let deleted = 0;
    for (let seen = new Set<string>(); ;) {
      const due = await this.ports.operations.outlived(AT_ONCE);
      // Rows lag behind the log: what was deleted a moment ago may be found again, and ends the round.
      const fresh = due.filter(({ runId }) => !seen.has(runId));
      if (fresh.length === 0) return deleted;
      seen = new Set(due.map(({ runId }) => runId));
      for (const { org, runId } of fresh) if (await this.remove(org, runId)) deleted += 1;
    }
  }

  private async remove(org: string, runId: string): Promise<boolean> {
    const loaded = await this.ports.runs.glance(org, runId);
    if (loaded.run.situation !== 'ended') return false;
    const events = decideControl(loaded.run, { type: 'DeleteRun' });
    if (events.length === 0) return false;
    try {
      await this.ports.runs.append(loaded, events, ACTOR);
      return true;
    } catch (error) {
      if (error instanceof VersionConflict) return false;
      throw error;
    }
  }
}

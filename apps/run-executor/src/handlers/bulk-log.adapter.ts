import { BULK_EVENTS, subjectOf } from '@runyard/contracts';
import type { Actor, BulkEvent } from '@runyard/contracts';
import { foldCache, handle, load } from '@runyard/event-log';
import type { EventLog, Handled } from '@runyard/event-log';
import { evolveBulkAction, NO_BULK_ACTION } from '../domain/bulk-action';
import type { BulkAction } from '../domain/bulk-action';
import { decideBulkAction } from '../domain/bulk-decisions';
import type { BulkCommand } from '../domain/bulk-decisions';

/** Who records what became of runs; who asked stands in the first event. */
const SYSTEM: Actor = 'system:run-executor';
const DECIDER = { initial: NO_BULK_ACTION, evolve: evolveBulkAction, decide: decideBulkAction };

/** Bulk actions by their own logs: of any number of processes exactly one records a result. */
export class BulkLog {
  /** Few: each holds the ids of all its runs. */
  private readonly cache = foldCache<BulkAction>(200);

  constructor(private readonly log: Pick<EventLog, 'read' | 'append'>) {}

  decide(
    org: string,
    id: string,
    command: BulkCommand,
    actor: Actor = SYSTEM,
  ): Promise<Handled<BulkAction, BulkEvent>> {
    return handle(this.log, this.aggregate(org, id), command, { actor, source: 'run-executor' });
  }

  async read(org: string, id: string): Promise<BulkAction> {
    return (await load(this.log, this.aggregate(org, id))).state;
  }

  private aggregate(org: string, id: string) {
    return {
      subject: subjectOf('bulk', org, id),
      context: 'bulk' as const,
      isKnown: BULK_EVENTS,
      cache: this.cache,
      decider: DECIDER,
    };
  }
}

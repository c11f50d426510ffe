import { SCHEDULE_EVENTS, subjectOf } from '@runyard/contracts';
import type { ScheduleEvent } from '@runyard/contracts';
import { foldCache, handle, load } from '@runyard/event-log';
import type { Aggregate, CommitMeta, EventLog, FoldCache } from '@runyard/event-log';
import { NO_SLOTS, decideSlots, evolveSlots } from '../domain/agent-slots';
import type { AgentSlots, SlotCommand } from '../domain/agent-slots';

/** Source and actor of every event of this service. */
export const SOURCE = 'scheduler';

const SLOTS = { initial: NO_SLOTS, evolve: evolveSlots, decide: decideSlots };
/** Agents whose slots are remembered: more than are due together in a large installation; each is a few numbers. */
const KEPT = 100_000;

const META: CommitMeta = { actor: `system:${SOURCE}`, source: SOURCE };

/** What is decided about agents' slots, on the log: of any number of schedulers exactly one decides about a slot. */
export class SlotLog {
  private readonly cache: FoldCache<AgentSlots> = foldCache(KEPT);

  constructor(private readonly log: Pick<EventLog, 'append' | 'read'>) {}

  async decide(org: string, agentId: string, command: SlotCommand): Promise<AgentSlots> {
    return (await handle(this.log, this.slots(org, agentId), command, META)).state;
  }

  /**
   * What this process last heard, if it is as far as the clock's row: whatever else the log may hold, a decision on it is
   * refused by the log and made again. Undefined: the log must be asked.
   */
  remembered(org: string, agentId: string, requested: number | null): AgentSlots | undefined {
    const known = this.cache.get(subjectOf('schedules', org, agentId));
    return known?.unknown === undefined && known?.state.requested === requested ? known.state : undefined;
  }

  async read(org: string, agentId: string): Promise<AgentSlots> {
    return (await load(this.log, this.slots(org, agentId))).state;
  }

  private slots(org: string, agentId: string): Aggregate<AgentSlots, SlotCommand, ScheduleEvent> {
    const subject = subjectOf('schedules', org, agentId);
    return { subject, context: 'schedules', decider: SLOTS, isKnown: SCHEDULE_EVENTS, cache: this.cache };
  }
}

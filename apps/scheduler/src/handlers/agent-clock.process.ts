import type { AgentSlots } from '../domain/agent-slots';
import type { ClockAfter, ClockRow } from '../projections/clock.queries';
import { dueSlots } from '../timetable/missed-slots';
import { nextSlotBeyond } from '../timetable/next-slot';
import { planAnew } from '../timetable/plan';
import type { Runs } from './runs.adapter';
import type { SlotLog } from './slot-log.adapter';

/** A holder that is to be replaced is asked to end again after this long. */
export const CANCEL_AGAIN_MS = 10_000;

/** No schedule has two slots within this time. */
const CLOSEST_SLOTS_MS = 60_000;

export interface ClockPorts {
  slots: SlotLog;
  runs: Runs;
}

/**
 * One look at an agent's clock. The order is: decide in the log, send the request, move the clock. A crash between any
 * two leaves the clock where it was; the next look finds the decision in the log, sends the same request again (one key,
 * one run) and moves the clock. A decision is sent before the next one is made, so none is ever passed over.
 */
export class AgentClock {
  constructor(private readonly ports: ClockPorts) {}

  async look(row: ClockRow, now: number): Promise<ClockAfter> {
    const { org, agentId } = row;
    let state = this.known(row, now) ?? (await this.ports.slots.read(org, agentId));
    await this.send(row, row.requested, state);
    if (!row.present || !row.open) {
      const reason = row.present ? 'closed' : 'deleted';
      if (state.deferred !== null)
        state = await this.ports.slots.decide(org, agentId, { type: 'DropSlot', reason });
      return row.present ? after(row, state, null) : null;
    }
    const plan = row.stale
      ? planAnew(row, { next: row.next, decided: state.decided }, now)
      : { next: row.next, leftOver: null };
    if (plan.leftOver !== null) state = await this.due(row, state, alone(plan.leftOver, row, now));
    if (plan.next === null || row.schedule === null || plan.next > now)
      return this.waiting(row, state, plan.next, now);
    const found = dueSlots(row.schedule, row, { first: plan.next, now, catchUp: row.catchUp });
    state = await this.due(row, state, found);
    return this.waiting(row, state, nextAfter(row, found.newest ?? now, state, now), now);
  }

  /**
   * A slot that has just come due is decided about on what is remembered: the append proves that it holds. Where it does
   * not, another scheduler has decided about this very slot (no second one can be due yet), and the decision comes back
   * with what the log says, to be sent again. A slot that waited longer could follow an unsent one: then the log is read.
   */
  private known(row: ClockRow, now: number): AgentSlots | undefined {
    const { next, deferred, stale, open, org, agentId, requested } = row;
    const justDue = next !== null && next <= now && now < next + CLOSEST_SLOTS_MS;
    return open && !stale && deferred === null && justDue
      ? this.ports.slots.remembered(org, agentId, requested)
      : undefined;
  }

  private async due(
    row: ClockRow,
    before: AgentSlots,
    found: ReturnType<typeof dueSlots>,
  ): Promise<AgentSlots> {
    const { newest, run, late, missed } = found;
    const holders = row.concurrency === 'agent' ? row.holders : [];
    const command = {
      type: 'SlotDue',
      slot: newest,
      run,
      late,
      missed,
      catchUp: row.catchUp,
      overlap: row.overlap,
      holders,
    } as const;
    const state = await this.ports.slots.decide(row.org, row.agentId, command);
    await this.send(row, before.requested, state);
    return state;
  }

  /** A slot that waits: released when its holders have ended, and with `replace` they are asked to end. */
  private async waiting(
    row: ClockRow,
    before: AgentSlots,
    next: number | null,
    now: number,
  ): Promise<ClockAfter> {
    if (before.deferred === null) return { ...after(row, before, next), cancelAsked: null };
    if (row.holders.length === 0) {
      const state = await this.ports.slots.decide(row.org, row.agentId, { type: 'ReleaseSlot' });
      await this.send(row, before.requested, state);
      return { ...after(row, state, next), cancelAsked: null };
    }
    const asked =
      row.cancelAsked !== null && row.cancelAsked > now - CANCEL_AGAIN_MS && row.cancelAsked <= now;
    if (row.overlap !== 'replace' || asked) return after(row, before, next);
    for (const runId of row.holders) await this.ports.runs.cancel(row.org, runId);
    return { ...after(row, before, next), cancelAsked: now };
  }

  private async send(
    { org, agentId }: ClockRow,
    sent: number | null,
    { requested }: AgentSlots,
  ): Promise<void> {
    if (requested !== null && requested !== sent) await this.ports.runs.request(org, agentId, requested);
  }
}

/** A slot that was due under a plan that holds no longer: it stands for itself. */
function alone(
  slot: number,
  { catchUp }: Pick<ClockRow, 'catchUp'>,
  now: number,
): ReturnType<typeof dueSlots> {
  return dueSlots(
    { type: 'interval', every_hours: 8_760 },
    { ownerZone: null, orgZone: 'UTC' },
    { first: slot, now, catchUp },
  );
}

function nextAfter(row: ClockRow, slot: number, state: AgentSlots, now: number): number | null {
  if (row.schedule === null) return null;
  // Where a clock ran ahead, slots up to there are decided: none comes twice.
  const decided = Math.max(slot, row.schedule.type === 'interval' ? slot : (state.decided ?? slot));
  try {
    return nextSlotBeyond(row.schedule, { ...row, after: decided }, Math.max(now, state.decided ?? now));
  } catch {
    return null;
  }
}

const after = (row: ClockRow, state: AgentSlots, next: number | null): NonNullable<ClockAfter> => ({
  next,
  decided: state.decided,
  requested: state.requested,
  deferred: state.deferred,
  cancelAsked: row.cancelAsked,
});

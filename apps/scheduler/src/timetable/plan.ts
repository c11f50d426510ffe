import type { Schedule } from '@runyard/contracts';
import { nextSlot } from './next-slot';

/** What is known of an agent from the log, as far as its slots depend on it. Instants are epoch ms. */
export interface AgentFacts {
  /** Null: by hand only. */
  schedule: Schedule | null;
  /** When the schedule was last changed. */
  scheduledAt: number;
  /** Enabled, not locked, has a model, owner active (domain, section 2). */
  open: boolean;
  /** When the last of the conditions opened. */
  openedAt: number;
  ownerZone: string | null;
  orgZone: string;
  /** When the zone that holds for the owner was last changed. */
  zoneSince: number;
}

/** What was planned so far. */
export interface Planned {
  next: number | null;
  /** Everything up to here is decided. */
  decided: number | null;
}

export interface Plan {
  /** Next slot under the facts as they are; may lie in the past, then it is due. */
  next: number | null;
  /** A slot of the plan before, due before the change that ended that plan. It runs as it was meant to. */
  leftOver: number | null;
}

/**
 * The next slot after a change of facts. A changed schedule or zone counts from its change, an opened agent from the
 * opening: slots of a closed period are no missed slots. What was due before a change of schedule is not lost by it.
 */
export function planAnew(facts: AgentFacts, planned: Planned, now: number): Plan {
  const { schedule, open, openedAt } = facts;
  if (schedule === null || !open) return { next: null, leftOver: null };
  const changedAt = Math.max(facts.scheduledAt, schedule.type === 'calendar' ? facts.zoneSince : -Infinity);
  const { next: before, decided } = planned;
  const due = before !== null && before <= now && before <= changedAt && before > openedAt;
  const after = Math.max(changedAt, openedAt, decided ?? -Infinity);
  return { next: orNever(schedule, { ...facts, after }), leftOver: due ? before : null };
}

/** An expression that makes no sense never fires; whoever previews it is told. */
export function orNever(...question: Parameters<typeof nextSlot>): number | null {
  try {
    return nextSlot(...question);
  } catch {
    return null;
  }
}

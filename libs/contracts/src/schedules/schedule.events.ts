import type { DomainEvent } from '../envelope';

// Context `schedules`: one aggregate an agent, under the agent's id. Slots are epoch milliseconds.

/** Why a slot led to no run request, or to one that was refused (P7.2). */
export type SlotNotRunReason =
  /** Nobody was there when it was due, and the policy does not make up for it. */
  | 'missed'
  /** It waited, and a newer one took its place. */
  | 'coalesced'
  /** It waited, and the agent was switched off, locked, left without model or without owner. */
  | 'closed'
  /** It waited, and the agent was deleted. */
  | 'deleted'
  /** Intake refused its request; `code` says why. */
  | 'refused';

/** What becomes of slots that were missed while nothing was running (domain, section 3). */
export type CatchUp = 'latest' | 'none';

/** The decision that a run is due. The request follows from it: its key is {@link slotKey}, however often it is sent. */
export type SlotRequested = DomainEvent<
  'SlotRequested',
  {
    slot: number;
    /** True where it goes out later than it was due: a catch-up, or a slot that waited for a run to end. */
    late: boolean;
  }
>;
/** It met an unfinished run and waits for its end; at most one of an agent does (P7.1). */
export type SlotDeferred = DomainEvent<
  'SlotDeferred',
  { slot: number; overlap: 'queue' | 'replace'; /** Runs that it waits for. */ holders: string[] }
>;
/** A slot that led to no run, and why (P7.2). */
export type SlotNotRun = DomainEvent<
  'SlotNotRun',
  { slot: number; reason: SlotNotRunReason; /** Code of a refusal. */ code: string | null }
>;
/** Slots that nobody saw, taken together: the newest of them is decided about by an event of its own. */
export type SlotsMissed = DomainEvent<
  'SlotsMissed',
  {
    /** The first one. */
    from: number;
    /** All of them lie before this instant. */
    before: number;
    count: number;
    /** True where there may be more than `count`: the search looks back a day. */
    atLeast: boolean;
    catchUp: CatchUp;
  }
>;

export type ScheduleEvent = SlotRequested | SlotDeferred | SlotNotRun | SlotsMissed;

export const SCHEDULE_EVENTS: Readonly<Record<ScheduleEvent['type'], true>> = {
  SlotRequested: true,
  SlotDeferred: true,
  SlotNotRun: true,
  SlotsMissed: true,
};

/** Idempotency key of a slot's run request: any number of requests for a slot name one run. */
export const slotKey = (agentId: string, slot: number): string =>
  `slot:${agentId}:${new Date(slot).toISOString()}`;

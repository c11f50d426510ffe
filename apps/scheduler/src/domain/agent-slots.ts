import type { CatchUp, NewEvent, ScheduleEvent, SlotNotRunReason } from '@runyard/contracts';

/** What has been decided about an agent's slots. */
export interface AgentSlots {
  /** Everything up to this instant is decided; slots only go forward. Null: nothing yet. */
  decided: number | null;
  /** The last slot that a run was requested for. */
  requested: number | null;
  /** The slot that waits for a run to end. */
  deferred: number | null;
  /** The last slot whose request was refused. */
  refused: number | null;
}

export const NO_SLOTS: AgentSlots = { decided: null, requested: null, deferred: null, refused: null };

export interface SlotDue {
  type: 'SlotDue';
  /** The newest slot that is due; null where only missed ones are to be noted. */
  slot: number | null;
  run: boolean;
  late: boolean;
  missed: { from: number; before: number; count: number; atLeast: boolean } | null;
  catchUp: CatchUp;
  overlap: 'skip' | 'queue' | 'replace';
  /** Unfinished runs that compete with a new one. */
  holders: readonly string[];
}

export type SlotCommand =
  | SlotDue
  /** The runs that the waiting slot met have ended. */
  | { type: 'ReleaseSlot' }
  | { type: 'DropSlot'; reason: 'closed' | 'deleted' }
  | { type: 'NoteRefusal'; slot: number; code: string };

type Decided<E = ScheduleEvent> = E extends { type: infer T extends string; data: infer D }
  ? NewEvent<T, D>
  : never;

export function evolveSlots(state: AgentSlots, event: ScheduleEvent): AgentSlots {
  switch (event.type) {
    case 'SlotRequested': {
      const { slot } = event.data;
      return {
        ...state,
        decided: later(state, slot),
        requested: slot,
        deferred: state.deferred === slot ? null : state.deferred,
      };
    }
    case 'SlotDeferred':
      return { ...state, decided: later(state, event.data.slot), deferred: event.data.slot };
    case 'SlotNotRun': {
      const { slot, reason } = event.data;
      if (reason === 'refused') return { ...state, refused: slot };
      return {
        ...state,
        decided: later(state, slot),
        deferred: state.deferred === slot ? null : state.deferred,
      };
    }
    case 'SlotsMissed':
      return { ...state, decided: later(state, event.data.before - 1) };
    default:
      return event satisfies never;
  }
}

const later = ({ decided }: AgentSlots, slot: number): number => Math.max(decided ?? slot, slot);

/** Never refuses: what is decided already, by whichever scheduler, gives no events. */
export function decideSlots(state: AgentSlots, command: SlotCommand): Decided[] {
  switch (command.type) {
    case 'SlotDue':
      return due(state, command);
    case 'ReleaseSlot':
      return state.deferred === null
        ? []
        : [{ type: 'SlotRequested', data: { slot: state.deferred, late: true } }];
    case 'DropSlot':
      return state.deferred === null ? [] : [notRun(state.deferred, command.reason)];
    case 'NoteRefusal':
      return refusal(state, command);
    default:
      return command satisfies never;
  }
}

function due(state: AgentSlots, command: SlotDue): Decided[] {
  const { slot, missed, catchUp } = command;
  const newest = slot ?? (missed ? missed.before - 1 : null);
  if (newest === null || (state.decided !== null && newest <= state.decided)) return [];
  const noted: Decided[] = missed ? [{ type: 'SlotsMissed', data: { ...missed, catchUp } }] : [];
  if (slot === null) return noted;
  if (!command.run) return [...noted, notRun(slot, 'missed')];
  const { overlap, late, holders } = command;
  // At most one waits: a newer slot takes the place of the one before it (P7.1).
  if (state.deferred !== null) noted.push(notRun(state.deferred, 'coalesced'));
  if (overlap === 'skip' || holders.length === 0)
    return [...noted, { type: 'SlotRequested', data: { slot, late } }];
  return [...noted, { type: 'SlotDeferred', data: { slot, overlap, holders: [...holders] } }];
}

function refusal(state: AgentSlots, { slot, code }: { slot: number; code: string }): Decided[] {
  const known =
    state.requested === null || slot > state.requested || (state.refused !== null && slot <= state.refused);
  return known ? [] : [{ type: 'SlotNotRun', data: { slot, reason: 'refused', code } }];
}

const notRun = (slot: number, reason: SlotNotRunReason): Decided => ({
  type: 'SlotNotRun',
  data: { slot, reason, code: null },
});

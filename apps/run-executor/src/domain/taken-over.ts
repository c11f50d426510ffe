import type { OpenCall, RunQueued, TakenOver } from '@runyard/contracts';
import { callIdOf } from './calls';
import type { ChatMessage } from './dialog';
import type { Material } from './material';
import { shownText, wholeText } from './material';
import type { CallState, Phase } from './run';
import { append, EMPTY_TRANSCRIPT } from './transcript';
import type { Transcript } from './transcript';

/** A write that a fork's source has made: its result stands for an equal call. */
export interface RecordedWrite {
  callId: string;
  tool: string;
  argumentsDigest: string;
  text: string;
}

/** The turn that a run is born with; its own turns are numbered from 1. */
export const OPEN_STEP = 0;

/** The dialog that a run begins with: its conversation's, its source's, or none; then what it is asked. */
export function firstDialog({ input, takenOver }: RunQueued['data'], material: Material): Transcript {
  const said: ChatMessage = { role: 'user', text: wholeText(input, material) };
  if (!takenOver) return append(append(EMPTY_TRANSCRIPT, material.history), [said]);
  const dialog = append(EMPTY_TRANSCRIPT, parsed<ChatMessage>(takenOver.dialog, material));
  return takenOver.saidBefore ? dialog : append(dialog, [said]);
}

export const recordedWrites = (
  takenOver: TakenOver | undefined,
  material: Material,
): readonly RecordedWrite[] => (takenOver?.writes ? parsed<RecordedWrite>(takenOver.writes, material) : []);

/** A text that is not at hand, as for folds that only ask where a run stands, has no list to give. */
function parsed<T>(stored: TakenOver['dialog'], material: Material): T[] {
  try {
    return JSON.parse(wholeText(stored, material)) as T[];
  } catch {
    return [];
  }
}

/** Where the loop begins: at a model call, or amid the turn that the source had not finished. */
export function firstPhase(takenOver: TakenOver | undefined, material: Material): Phase {
  if (!takenOver || takenOver.open.length === 0) return { name: 'ready', after: [] };
  const calls = takenOver.open.map((call) => openCall(call, material));
  return { name: 'calling_tools', step: OPEN_STEP, calls, cutOff: false };
}

const openCall = (call: OpenCall, material: Material): CallState => ({
  callId: call.callId,
  tool: call.tool,
  arguments: wholeText(call.arguments, material),
  status: call.outcome !== null ? 'settled' : call.grant ? 'approved' : 'undecided',
  attempt: 0,
  failures: 0,
  retryAt: 0,
  started: null,
  child: null,
  question: null,
  grant: call.grant && { ...call.grant, kind: 'call' },
  questions: 0,
  outcome: call.outcome,
  observation: call.observation && shownText(call.observation),
});

/** Ids of open calls are the new run's: those of its source are taken there. */
export const openCallId = (index: number): string => callIdOf(OPEN_STEP, index);

import type { RunEvent } from '@runyard/contracts';
import { Problem } from '@runyard/contracts';
import type { ChatMessage } from './dialog';
import { evolve } from './evolve';
import type { Material } from './material';
import { shownText } from './material';
import { EXPIRY } from './questions';
import { isLive, NO_RUN } from './run';
import type { LiveRun, Run } from './run';
import type { RecordedWrite } from './taken-over';
import { messagesOf } from './transcript';

const TERMINAL: ReadonlySet<RunEvent['type']> = new Set(['RunSucceeded', 'RunFailed', 'RunCancelled']);

/** Where a run stood right before its end: the calls that its end recorded as not run are still open there. */
export function beforeItsEnd(events: readonly RunEvent[], material: Material): LiveRun | null {
  let cut = events.findIndex((event) => TERMINAL.has(event.type));
  if (cut < 0) return null;
  while (cut > 0 && belongsToEnd(events[cut - 1])) cut--;
  return live(events.slice(0, cut).reduce<Run>((run, event) => evolve(run, event, material), NO_RUN));
}

function belongsToEnd(event: RunEvent | undefined): boolean {
  switch (event?.type) {
    case 'ToolCallCancelled':
      return event.data.startedAt === null;
    case 'ToolCallDenied':
      return event.data.decision.decidedBy === EXPIRY;
    case 'ToolCallFailed':
      return event.data.resolution?.decision.decidedBy === EXPIRY;
    default:
      return false;
  }
}

const live = (run: Run): LiveRun | null => (isLive(run) ? run : null);

export interface ForkPoint {
  step: number;
  /** The run when that step was complete. */
  run: LiveRun;
  /** What the source has written since. */
  writes: RecordedWrite[];
}

/**
 * A run at the end of a step, all of its calls settled. Left out: the last complete step. Throws `invalid_request` where the
 * run has no such step, or has not completed it.
 */
export function atStep(events: readonly RunEvent[], step: number | undefined, material: Material): ForkPoint {
  let run: Run = NO_RUN;
  let found: { run: LiveRun; index: number } | null = null;
  for (const [index, event] of events.entries()) {
    run = evolve(run, event, material);
    if (!isLive(run) || !isComplete(run)) continue;
    if (step === undefined || run.steps === step) found = { run, index };
    if (run.steps === step) break;
  }
  if (!found || (step !== undefined && found.run.steps !== step))
    throw new Problem('invalid_request', 'The run has not completed that step', {
      errors: [{ pointer: '/step', detail: 'is not a completed step of the run' }],
    });
  return { step: found.run.steps, run: found.run, writes: writesIn(events.slice(found.index + 1)) };
}

const isComplete = ({ phase }: LiveRun): boolean => phase.name === 'ready' || phase.name === 'answered';

function writesIn(events: readonly RunEvent[]): RecordedWrite[] {
  const sent = new Map<string, string>();
  return events.flatMap((event): RecordedWrite[] => {
    if (event.type === 'ToolCallStarted' && event.data.effect === 'write')
      sent.set(event.data.callId, event.data.argumentsDigest);
    if (event.type !== 'ToolCallSucceeded') return [];
    const { callId, tool, observation } = event.data;
    const argumentsDigest = sent.get(callId);
    return argumentsDigest === undefined
      ? []
      : [{ callId, tool, argumentsDigest, text: shownText(observation) }];
  });
}

/** The dialog of a fork: up to its point, without the source's input where another one takes its place. */
export function forkedDialog({ run, step }: ForkPoint, replacesInput: boolean): readonly ChatMessage[] {
  const messages = messagesOf(run.transcript);
  return step === 0 && replacesInput ? messages.slice(0, -1) : messages;
}

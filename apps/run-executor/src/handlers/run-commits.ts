import type { RunEvent, StoredText, TakenOver } from '@runyard/contracts';
import { RUN_EVENTS } from '@runyard/contracts';
import { decodeEvents, UnknownEvent } from '@runyard/event-log';
import type { Commit } from '@runyard/event-log';

/** Typed events of commits. A run with an event that this code does not know is refused as a whole (P8.9). */
export function eventsOf(commits: readonly Commit[]): RunEvent[] {
  return commits.flatMap((commit) => {
    const { events, unknown } = decodeEvents(commit, RUN_EVENTS);
    if (unknown) throw new UnknownEvent(commit.subject, commit.events.map((event) => event.type).join(', '));
    // The table of known events and the upcasters vouch for the type.
    return events as RunEvent[];
  });
}

/** Texts of an event that the dialog needs whole. Results of tools are not among them: the model sees them shortened. */
export function largeTexts(event: RunEvent): StoredText[] {
  if (event.type === 'RunQueued') return [event.data.input, ...takenTexts(event.data.takenOver)];
  if (event.type === 'CallApproved') return event.data.arguments === null ? [] : [event.data.arguments];
  if (event.type !== 'ModelTurnCompleted') return [];
  const { text, providerState, toolCalls } = event.data;
  return [text, providerState, ...toolCalls.map((call) => call.arguments)].filter(
    (stored) => stored !== null,
  );
}

const takenTexts = (taken: TakenOver | undefined): StoredText[] =>
  taken
    ? [taken.dialog, ...(taken.writes ? [taken.writes] : []), ...taken.open.map((call) => call.arguments)]
    : [];

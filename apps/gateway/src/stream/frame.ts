import { RUN_EVENTS, upcast } from '@runyard/contracts';
import type { CloudEvent } from '@runyard/contracts';
import { formatCursor } from './cursor';

/** The SSE event name of a run's event; a constant, because a name out of data could forge fields (case C52). */
export const RUN_EVENT = 'agent-run-event';

/** One event of a run as clients see it: SSE `data`, and a row of the JSON page. */
export interface RunEventFrame {
  run_id: string;
  type: string;
  /** RFC 3339. */
  time: string;
  /** `<stream sequence>.<index>`: fits `at_least` of every read. */
  position: string;
  actor: string;
  data: unknown;
}

/** What a commit must have to be streamed; both `Commit` and a decoded raw commit do. */
export interface StreamableCommit {
  sequence: number;
  events: readonly CloudEvent<unknown>[];
}

const TERMINAL: ReadonlySet<string> = new Set(['RunSucceeded', 'RunFailed', 'RunCancelled', 'RunSkipped']);

/** True for the events that end a run; nothing a viewer waits for comes after one. */
export const endsRun = (type: string): boolean => TERMINAL.has(type);

/** True where one of the commit's events ends the run. */
export const commitEndsRun = (commit: StreamableCommit): boolean =>
  commit.events.some((event) => endsRun(upcast(event, isRunEvent).name));

const isRunEvent = (name: string): boolean => Object.hasOwn(RUN_EVENTS, name);

/** The events of a commit as frames, oldest version upcast. An unknown event keeps its own name: viewers skip what they do not know. */
export function framesOf(commit: StreamableCommit): RunEventFrame[] {
  return commit.events.map((event, index) => {
    const { name, data } = upcast(event, isRunEvent);
    return {
      run_id: event.subject,
      type: name,
      time: event.time,
      position: `${commit.sequence}.${index}`,
      actor: event.actor,
      data,
    };
  });
}

/**
 * A durable event on the wire. JSON escapes CR, LF and NUL, so `data` is one line whatever a model wrote; `id` is made of
 * letters, digits and dots (case C52).
 */
export function encodeEvent(frame: RunEventFrame, incarnation: string): string {
  const [sequence, index] = frame.position.split('.');
  const id = formatCursor({ incarnation, sequence: Number(sequence), index: Number(index) });
  return `id: ${id}\nevent: ${RUN_EVENT}\ndata: ${JSON.stringify(frame)}\n\n`;
}

export type ControlFrame = 'caught-up' | 'end';

/** A frame about the stream itself. Without `id`, so that a client's position stays that of a durable event. */
export function encodeControl(name: ControlFrame, data: Record<string, unknown>): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

export const PING = ': ping\n\n';

/** Where a client stands, without an event: EventSource takes the id of an empty one as its last. */
export const encodePlace = (cursor: string): string => `id: ${cursor}\n\n`;

/** Tells EventSource how long to wait before it connects again. */
export const encodeRetry = (milliseconds: number): string => `retry: ${milliseconds}\n\n`;

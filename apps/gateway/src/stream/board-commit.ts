import { BOARD_EVENTS, BOARD_ID, TASK_EVENTS, upcast } from '@runyard/contracts';
import { formatCursor, isAfter } from './cursor';
import type { Cursor } from './cursor';
import type { StreamableCommit } from './frame';
import type { ShownCommit } from './streamed-commit';

/** The SSE event name of a change of the board; a constant, because a name out of data could forge fields (case C52). */
export const TASK_EVENT = 'task-event';

/** One change of a board as clients see it. */
export interface BoardFrame {
  /** Null for what concerns a column as a whole. */
  task_id: string | null;
  type: string;
  /** RFC 3339. */
  time: string;
  position: string;
  actor: string;
  data: Record<string, unknown>;
}

/** Whose tasks a viewer sees: all of the org's, or a person's own. */
export type BoardSight = { all: true } | { all: false; userId: string | null };

const isKnown = (name: string): boolean =>
  Object.hasOwn(TASK_EVENTS, name) || Object.hasOwn(BOARD_EVENTS, name);

/** A commit of TASKS on its way to viewers, with what each of them may see of it. */
export class BoardCommit {
  constructor(
    private readonly commit: StreamableCommit,
    private readonly incarnation: string,
  ) {}

  get sequence(): number {
    return this.commit.sequence;
  }

  framesFor(sight: BoardSight): BoardFrame[] {
    return this.commit.events.flatMap((event, index) => {
      const { name, data } = upcast(event, isKnown);
      const facts = typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : {};
      const shown = shownOf(name, facts, sight);
      if (!shown) return [];
      const taskId = event.subject === BOARD_ID ? facts.taskId : event.subject;
      return [
        {
          task_id: typeof taskId === 'string' ? taskId : null,
          type: name,
          time: event.time,
          position: `${this.sequence}.${index}`,
          actor: event.actor,
          data: shown,
        },
      ];
    });
  }

  seenWith(sight: BoardSight): ShownCommit {
    const frames = this.framesFor(sight);
    const texts = frames.map((frame) => ({ place: placeOf(frame), text: this.encode(frame) }));
    return {
      sequence: this.sequence,
      ends: false,
      size: texts.reduce((sum, { text }) => sum + text.length, 0),
      textAfter: (cursor: Cursor | undefined) =>
        texts
          .filter(({ place }) => isAfter(place, cursor))
          .map(({ text }) => text)
          .join(''),
    };
  }

  /** JSON escapes CR, LF and NUL, so `data` is one line whatever a title says (case C52). */
  private encode(frame: BoardFrame): string {
    const id = formatCursor({ incarnation: this.incarnation, ...placeOf(frame) });
    return `id: ${id}\nevent: ${TASK_EVENT}\ndata: ${JSON.stringify(frame)}\n\n`;
  }
}

export function placeOf({ position }: BoardFrame): { sequence: number; index: number } {
  const [sequence, index] = position.split('.');
  return { sequence: Number(sequence), index: Number(index) };
}

/**
 * What a viewer may see of an event; undefined: nothing. Every event says whose task it is, save the new ranks of a column:
 * they name everybody's, so that others than overseers are only told that there are new ones.
 */
function shownOf(
  name: string,
  data: Record<string, unknown>,
  sight: BoardSight,
): Record<string, unknown> | undefined {
  if (name === 'ColumnRanked') return sight.all ? data : { column: data.column };
  if (!sight.all && (sight.userId === null || data.userId !== sight.userId)) return undefined;
  // A run's whole input is no change of the board; it is read from the run.
  const { input: _input, ...rest } = data;
  return rest;
}

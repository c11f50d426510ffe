import { BOARD_EVENTS, BOARD_ID, TASK_EVENTS, subjectOf } from '@runyard/contracts';
import type { BoardEvent, Caller, TaskEvent } from '@runyard/contracts';
import { Mailbox, foldCache, formatPosition, handle, handleTogether, load } from '@runyard/event-log';
import type {
  Aggregate,
  CommitMeta,
  DecidedBy,
  EventLog,
  FoldCache,
  Handled,
  Settled,
} from '@runyard/event-log';
import { commitMeta } from '@runyard/service';
import { NO_CARDS, decideBoard, evolveBoard } from '../domain/board';
import type { Board, BoardCommand } from '../domain/board';
import { decideTask } from '../domain/decide';
import { NO_TASK } from '../domain/task';
import type { Task } from '../domain/task';
import { evolveTask } from '../domain/task-evolution';
import type { TaskCommand } from '../domain/task-commands';

/** Source of every event of this service, and the actor of its reactions. */
export const SOURCE = 'tasks';

const TASK = { initial: NO_TASK, evolve: evolveTask, decide: decideTask };
const BOARD = { initial: NO_CARDS, evolve: evolveBoard, decide: decideBoard };

interface Waiting {
  command: BoardCommand;
  meta: CommitMeta;
}

/** Where the board has a card after a command. */
export interface Placed {
  place: { column: string; rank: string } | null;
  position: string;
}

/** Tasks and boards on the log: how each is found, folded and decided about. */
export class TasksLog {
  private readonly tasks: FoldCache<Task> = foldCache();
  private readonly boards: FoldCache<Board> = foldCache(200);
  private readonly movers = new Mailbox<Waiting, Placed>((org, waiting) => this.together(org, waiting));

  constructor(private readonly log: EventLog) {}

  /** Decides and appends in the caller's name. */
  act(
    org: string,
    id: string,
    command: TaskCommand,
    caller: Pick<Caller, 'actor'>,
  ): Promise<Handled<Task, TaskEvent>> {
    return handle(this.log, this.task(org, id), command, commitMeta(caller, SOURCE));
  }

  /** Decides and appends in this service's own name; `cause` is the position of the event that it reacts to. */
  react(org: string, id: string, command: TaskCommand, cause?: string): Promise<Handled<Task, TaskEvent>> {
    return handle(this.log, this.task(org, id), command, ownMeta(cause));
  }

  async read(org: string, id: string): Promise<Task> {
    return (await load(this.log, this.task(org, id))).state;
  }

  async readAt(org: string, id: string): Promise<{ task: Task; position: string }> {
    const { state, sequence, index } = await load(this.log, this.task(org, id));
    return { task: state, position: formatPosition({ sequence, index }) };
  }

  /** Commands of the same moment are decided together, one after the other, and share a commit (architecture, section 2). */
  onBoard(org: string, command: BoardCommand, caller?: Pick<Caller, 'actor'>): Promise<Placed> {
    const meta = caller ? commitMeta(caller, SOURCE) : ownMeta();
    return this.movers.submit(org, { command, meta });
  }

  async board(org: string): Promise<Board> {
    return (await load(this.log, this.boardOf(org))).state;
  }

  /** Calls back when something was appended to the task; returns an unsubscriber. */
  onAppend(org: string, id: string, wake: () => void): () => void {
    return this.log.onAppend(subjectOf('tasks', org, id), wake);
  }

  private task(org: string, id: string): Aggregate<Task, TaskCommand, TaskEvent> {
    const subject = subjectOf('tasks', org, id);
    return { subject, context: 'tasks', decider: TASK, isKnown: TASK_EVENTS, cache: this.tasks };
  }

  private boardOf(org: string): Aggregate<Board, BoardCommand, BoardEvent> {
    const subject = subjectOf('tasks', org, BOARD_ID);
    return { subject, context: 'tasks', decider: BOARD, isKnown: BOARD_EVENTS, cache: this.boards };
  }

  /** One mover's refusal is his own; a conflict makes all of them be decided anew. */
  private async together(org: string, waiting: readonly Waiting[]): Promise<Settled<Placed>[]> {
    let refusals = new Map<number, unknown>();
    const { state, position } = await handleTogether(this.log, this.boardOf(org), ownMeta(), (board) => {
      refusals = new Map();
      const events: DecidedBy[] = [];
      let now = board;
      for (const [i, { command, meta }] of waiting.entries()) {
        try {
          for (const event of decideBoard(now, command)) {
            events.push({ ...event, meta });
            now = evolveBoard(now, event);
          }
        } catch (error) {
          refusals.set(i, error);
        }
      }
      return events;
    });
    return waiting.map(({ command }, i) => {
      if (refusals.has(i)) return { error: refusals.get(i) };
      const card = state.cards.get(command.taskId);
      return { value: { place: card ? { column: card.column, rank: card.rank } : null, position } };
    });
  }
}

const ownMeta = (cause?: string): CommitMeta => ({
  actor: `system:${SOURCE}`,
  source: SOURCE,
  ...(cause === undefined ? {} : { causationId: cause }),
});

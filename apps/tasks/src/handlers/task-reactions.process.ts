import { BOARD_EVENTS, BOARD_ID, TASK_EVENTS, parseSubject } from '@runyard/contracts';
import type { BoardEvent, TaskEvent } from '@runyard/contracts';
import { decodeEvents } from '@runyard/event-log';
import type { Tx } from '@runyard/persistence';
import { onEach } from '@runyard/service';
import type { Reaction } from '@runyard/service';
import { setWaits, waitingFor } from '../projections/watch.queries';
import { requesting } from './dependencies';
import type { Runs } from './runs.adapter';
import type { TasksLog } from './tasks-log.adapter';

export interface ReactionPorts {
  tasks: TasksLog;
  runs: Runs;
}

interface At {
  org: string;
  taskId: string;
  cause: string;
  tx: Tx;
}

const KNOWN = { ...TASK_EVENTS, ...BOARD_EVENTS };

/**
 * What follows from a task's own events: `TaskPhaseRequested` → the run's request; `TaskHeld` and the completion of what it
 * waits for → the start; `TaskCreated`, `TaskDeleted` and `TaskErased` → its card. Order: append or publish, then the checkpoint.
 *
 * Invariants:
 * 1. A request is sent at least once after its event; sent again it names the same run (one key).
 * 2. A held task is looked at after its event and after the completion of each task that it waits for, whichever comes
 *    first: what it waits for is remembered in this reaction's own transaction, in the order of the log.
 * 3. No card outlives its task: a move that was decided while its task was deleted is found here.
 */
export function taskReaction(ports: ReactionPorts): Reaction {
  return {
    name: 'tasks-work-reaction',
    version: 1,
    stream: 'TASKS',
    async react(commit, tx) {
      const { org, id } = parseSubject(commit.subject) ?? {};
      if (!org || !id) return;
      const { events } = decodeEvents(commit, KNOWN);
      for (const [index, event] of (events as (TaskEvent | BoardEvent)[]).entries()) {
        const at = { org, tx, cause: `${commit.sequence}.${index}` };
        if (id === BOARD_ID) await tidy(ports, org, event as BoardEvent);
        else await follow(ports, { ...at, taskId: id }, event as TaskEvent);
      }
    },
  };
}

async function follow(ports: ReactionPorts, at: At, event: TaskEvent): Promise<void> {
  const { tasks, runs } = ports;
  const { org, taskId, tx } = at;
  switch (event.type) {
    case 'TaskPhaseRequested':
      return runs.request(org, taskId, event.data);
    case 'TaskCreated': {
      const { column, userId } = event.data;
      return void (await tasks.onBoard(org, { type: 'PlaceCard', taskId, userId, column }));
    }
    case 'TaskDeleted':
    case 'TaskErased':
      await setWaits(tx, org, taskId, []);
      return void (await tasks.onBoard(org, { type: 'RemoveCard', taskId, userId: event.data.userId }));
    case 'TaskHeld':
    case 'TaskEdited':
      return unblock(ports, at);
    case 'TaskCompleted':
      await setWaits(tx, org, taskId, []);
      return onEach(await waitingFor(tx, org, taskId), (waiting) =>
        unblock(ports, { ...at, taskId: waiting }),
      );
    default:
  }
}

/** Starts a held task where nothing is open any more; otherwise remembers what it waits for (2). */
async function unblock({ tasks }: ReactionPorts, { org, taskId, cause, tx }: At): Promise<void> {
  const task = await tasks.read(org, taskId);
  if (task.situation !== 'live' || task.attention?.kind !== 'blocked') return setWaits(tx, org, taskId, []);
  const needed = await requesting(tasks, org, taskId, task);
  await setWaits(
    tx,
    org,
    taskId,
    needed.open.map((dependency) => dependency.taskId),
  );
  if (needed.open.length === 0) await tasks.react(org, taskId, { type: 'Unblock', ...needed }, cause);
}

async function tidy({ tasks }: ReactionPorts, org: string, event: BoardEvent): Promise<void> {
  if (event.type !== 'CardPlaced' && event.type !== 'CardMoved') return;
  const { taskId, userId } = event.data;
  if ((await tasks.read(org, taskId)).situation !== 'live')
    await tasks.onBoard(org, { type: 'RemoveCard', taskId, userId });
}

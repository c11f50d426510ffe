import { BOARD_EVENTS, BOARD_ID, TASK_EVENTS, parseSubject, taskSummary } from '@runyard/contracts';
import type { BoardEvent, TaskEvent } from '@runyard/contracts';
import { eventsOf } from '@runyard/persistence';
import type { ProjectedEvent, Projection, Tx } from '@runyard/persistence';
import { imageAfter } from './task-image';
import { TaskImages } from './task-rows';
import type { TaskKey } from './task-rows';

type Recorded = ProjectedEvent<TaskEvent> | ProjectedEvent<BoardEvent>;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const KNOWN = { ...TASK_EVENTS, ...BOARD_EVENTS };

/** Tasks, their plans, locks, runs and activity. Who waits for the answer to a write waits for this. */
export const TASKS_PROJECTION: Projection = {
  name: 'tasks-board',
  version: 1,
  stream: 'TASKS',
  async apply(tx, commits) {
    const events = commits
      .filter(({ subject }) => UUID.test(parseSubject(subject)?.org ?? ''))
      .flatMap((commit) => eventsOf<TaskEvent | BoardEvent>(commit, KNOWN) as Recorded[]);
    const images = await TaskImages.load(tx, events.flatMap(keysOf));
    for (const recorded of events) applyTo(images, recorded);
    await images.save(tx);
    await saveActivity(tx, events);
    await forgetActivity(tx, events.filter(isErasure));
    await disownActivity(
      tx,
      events.filter(({ event }) => event.type === 'TaskOwnerCleared'),
    );
  },
};

/** All tables that it writes. */
export const BOARD_TABLES = ['agent_tasks', 'agent_task_steps', 'task_locks', 'task_runs', 'task_activity'];

const isOfBoard = (recorded: Recorded): recorded is ProjectedEvent<BoardEvent> =>
  recorded.aggregate === BOARD_ID;

const isErasure = ({ event }: Recorded): boolean => event.type === 'TaskErased';

function taskIdsOf(recorded: Recorded): string[] {
  if (!isOfBoard(recorded)) return [recorded.aggregate];
  const { event } = recorded;
  return event.type === 'ColumnRanked' ? Object.keys(event.data.ranks) : [event.data.taskId];
}

const keysOf = (recorded: Recorded): TaskKey[] =>
  taskIdsOf(recorded).map((task_id) => ({ org_id: recorded.org, task_id }));

function applyTo(images: TaskImages, recorded: Recorded): void {
  if (isOfBoard(recorded)) return place(images, recorded);
  const key = { org_id: recorded.org, task_id: recorded.aggregate };
  const before = images.get(key);
  const after = imageAfter(before, recorded);
  if (before || after) images.set(key, after);
}

/** A place is no edit of the task: `updated_at` stays. */
function place(images: TaskImages, { org, event, sequence, index }: ProjectedEvent<BoardEvent>): void {
  const put = (task_id: string, board_rank: string | null, column?: string) => {
    const image = images.get({ org_id: org, task_id });
    if (!image) return;
    const board_column = column ?? image.task.board_column;
    const task = { ...image.task, board_column, board_rank, position: `${sequence}.${index}` };
    images.set(image.task, { ...image, task });
  };
  switch (event.type) {
    case 'CardPlaced':
    case 'CardMoved':
      return put(event.data.taskId, event.data.rank, event.data.column);
    case 'CardRemoved':
      return put(event.data.taskId, null);
    case 'ColumnRanked':
      for (const [taskId, rank] of Object.entries(event.data.ranks)) put(taskId, rank);
      return;
    default:
      return event satisfies never;
  }
}

async function saveActivity(tx: Tx, events: readonly Recorded[]): Promise<void> {
  const rows = events.flatMap((recorded) => {
    const { event, org, sequence, index } = recorded;
    const summary = taskSummary(event);
    if (summary === null || event.type === 'ColumnRanked') return [];
    const [task_id] = taskIdsOf(recorded);
    const { userId: user_id } = event.data;
    const at = new Date(event.time).toISOString();
    return [
      { org_id: org, sequence, index, at, type: event.type, task_id, user_id, actor: event.actor, summary },
    ];
  });
  if (rows.length === 0) return;
  await tx.query(
    `INSERT INTO task_activity SELECT * FROM jsonb_populate_recordset(NULL::task_activity, $1::jsonb) ON CONFLICT DO NOTHING`,
    [JSON.stringify(rows)],
  );
}

/** What an erased task said is not there for a rebuild to find; neither may it stay here. */
async function forgetActivity(tx: Tx, erasures: readonly Recorded[]): Promise<void> {
  for (const { org, aggregate, sequence } of erasures)
    await tx.query('DELETE FROM task_activity WHERE org_id = $1 AND task_id = $2 AND sequence < $3', [
      org,
      aggregate,
      sequence,
    ]);
}

/** A deleted person's id stays in no row that says whose something is. */
async function disownActivity(tx: Tx, departures: readonly Recorded[]): Promise<void> {
  for (const { org, aggregate, sequence } of departures)
    await tx.query(
      'UPDATE task_activity SET user_id = NULL WHERE org_id = $1 AND task_id = $2 AND sequence < $3',
      [org, aggregate, sequence],
    );
}

import type { DependencyRow, TaskActivityRow, TaskRow, TaskRunRow, TaskStepRow } from '@runyard/contracts';
import { decodeCursor, pageOf, positionReached, restoreText } from '@runyard/persistence';
import type { Database, Page, Tx } from '@runyard/persistence';
import { TASKS_PROJECTION } from './board.projection';

export type { Page };

/** How long a read waits for the position that its caller has seen; after that it answers with what is there. */
const BRIEFLY_MS = 5_000;

/** Waits until rows reflect a position; false where they do not in time. */
export const tasksReached = (db: Database, position: string, withinMs = BRIEFLY_MS): Promise<boolean> =>
  positionReached(db, TASKS_PROJECTION, position, withinMs);

/** Whether a lock has expired is said as of the answer, by the database's clock. */
const LOCK = `CASE WHEN l.fence IS NULL THEN NULL ELSE jsonb_build_object('fence', l.fence, 'lock_id', l.lock_id, 'holder', l.holder,
  'expires_at', l.expires_at, 'expired', l.expires_at <= clock_timestamp()) END AS lock`;

const COLUMNS = `to_jsonb(t) - 'org_id' - 'board_column' - 'board_rank' - 'active_number' - 'requested_at' || jsonb_build_object(
    'column', t.board_column, 'rank', t.board_rank,
    'steps_done', (SELECT count(*) FROM agent_task_steps s WHERE (s.org_id, s.task_id) = (t.org_id, t.task_id) AND s.status = 'completed'),
    'steps_total', (SELECT count(*) FROM agent_task_steps s WHERE (s.org_id, s.task_id) = (t.org_id, t.task_id)),
    'total_tokens', (SELECT COALESCE(sum(r.total_tokens), 0) FROM task_runs r WHERE (r.org_id, r.task_id) = (t.org_id, t.task_id))) AS task,
  ${LOCK}`;
const FROM = 'agent_tasks t LEFT JOIN task_locks l USING (org_id, task_id)';

export type StoredTask = TaskRow & { report_digest: string | null };
interface Found {
  task: StoredTask;
  lock: TaskRow['lock'];
}

const restored = <T extends string | null>(text: T): T => (text === null ? text : (restoreText(text) as T));

const rowOf = ({ task, lock }: Found): StoredTask => ({
  ...task,
  report: restored(task.report),
  attention_text: restored(task.attention_text),
  reason_text: restored(task.reason_text),
  lock,
});

export async function findTask(tx: Tx, taskId: string): Promise<StoredTask | undefined> {
  const [found] = await tx.query<Found>(`SELECT ${COLUMNS} FROM ${FROM} WHERE t.task_id = $1`, [taskId]);
  return found && rowOf(found);
}

export interface TaskFilter {
  status?: string;
  column?: string;
  agent_id?: string;
  user_id?: string;
  limit: number;
  cursor?: string;
}

/** The cards of one column in their order; without a column all tasks, newest first. */
export async function listTasks(tx: Tx, filter: TaskFilter): Promise<Page<StoredTask>> {
  const { status, column, agent_id, user_id, limit, cursor } = filter;
  const inColumn = column !== undefined;
  const [first, second] = decodeCursor(cursor, [inColumn ? 'text' : 'time', 'text']) ?? [];
  // Cards that the board has not placed yet stand last.
  const rank = `COALESCE(t.board_rank, '~') COLLATE "C"`;
  const after = inColumn
    ? `($5::text IS NULL OR (${rank}, t.task_id) > ($5::text COLLATE "C", $6::text))`
    : `($5::text IS NULL OR (t.created_at, t.task_id) < ($5::timestamptz, $6::text))`;
  const order = inColumn ? `${rank}, t.task_id` : 't.created_at DESC, t.task_id DESC';
  const found = await tx.query<Found>(
    `SELECT ${COLUMNS} FROM ${FROM}
     WHERE ($1::text IS NULL OR t.status = $1) AND ($2::text IS NULL OR t.board_column = $2)
       AND ($3::text IS NULL OR t.agent_id = $3) AND ($4::uuid IS NULL OR t.user_id = $4) AND ${after}
     ORDER BY ${order} LIMIT $7`,
    [
      status ?? null,
      column ?? null,
      agent_id ?? null,
      user_id ?? null,
      first ?? null,
      second ?? null,
      limit + 1,
    ],
  );
  return pageOf(found.map(rowOf), limit, (row) =>
    inColumn ? [row.rank ?? '~', row.task_id] : [row.created_at, row.task_id],
  );
}

export async function stepsOf(tx: Tx, taskId: string): Promise<TaskStepRow[]> {
  const rows = await tx.query<TaskStepRow>(
    'SELECT seq, title, detail, status, result, run_id FROM agent_task_steps WHERE task_id = $1 ORDER BY seq',
    [taskId],
  );
  return rows.map((row) => ({
    ...row,
    title: restored(row.title),
    detail: restored(row.detail),
    result: restored(row.result),
  }));
}

/** Dependencies in the order in which they were named; one without a row was deleted. */
export async function dependenciesOf(tx: Tx, taskIds: readonly string[]): Promise<DependencyRow[]> {
  if (taskIds.length === 0) return [];
  return tx.query<DependencyRow>(
    `SELECT named.id AS task_id, t.title, COALESCE(t.status, 'deleted') AS status
     FROM unnest($1::text[]) WITH ORDINALITY AS named (id, place) LEFT JOIN agent_tasks t ON t.task_id = named.id ORDER BY named.place`,
    [taskIds],
  );
}

/** Runs of a task, newest first: its spend is their sum. */
export async function runsOf(tx: Tx, taskId: string): Promise<TaskRunRow[]> {
  const rows = await tx.query<{ run: TaskRunRow }>(
    `SELECT to_jsonb(r) - 'org_id' - 'task_id' - 'number' AS run FROM task_runs r WHERE task_id = $1 ORDER BY number DESC`,
    [taskId],
  );
  return rows.map(({ run }) => run);
}

/** Tasks that nobody is at work on, in the board's order: what `claim` tries. */
export async function claimable(
  tx: Tx,
  filter: { column?: string; agent_id?: string; user_id?: string },
): Promise<string[]> {
  const rows = await tx.query<{ task_id: string }>(
    `SELECT t.task_id FROM ${FROM} WHERE t.status = 'pending' AND t.attention IS NULL
       AND (l.fence IS NULL OR l.expires_at <= clock_timestamp())
       AND ($1::text IS NULL OR t.board_column = $1) AND ($2::text IS NULL OR t.agent_id = $2) AND ($3::uuid IS NULL OR t.user_id = $3)
     ORDER BY t.board_column, COALESCE(t.board_rank, '~') COLLATE "C", t.task_id LIMIT 100`,
    [filter.column ?? null, filter.agent_id ?? null, filter.user_id ?? null],
  );
  return rows.map(({ task_id }) => task_id);
}

export async function listActivity(
  tx: Tx,
  filter: { task_id?: string; user_id?: string; limit: number; cursor?: string },
): Promise<Page<TaskActivityRow>> {
  const { task_id, user_id, limit, cursor } = filter;
  const [sequence, index] = decodeCursor(cursor, ['position', 'integer']) ?? [];
  const rows = await tx.query<TaskActivityRow>(
    `SELECT to_char(a.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at, a.type, a.task_id, COALESCE(t.title, '') AS title, a.actor,
       a.summary, a.sequence || '.' || a.index AS position
     FROM task_activity a LEFT JOIN agent_tasks t ON (t.org_id, t.task_id) = (a.org_id, a.task_id)
     WHERE ($1::text IS NULL OR a.task_id = $1) AND ($2::uuid IS NULL OR a.user_id = $2)
       AND ($3::int8 IS NULL OR (a.sequence, a.index) < ($3::int8, $4::int4))
     ORDER BY a.sequence DESC, a.index DESC LIMIT $5`,
    [task_id ?? null, user_id ?? null, sequence ?? null, index ?? null, limit + 1],
  );
  return pageOf(rows, limit, ({ position }) => position.split('.').map(Number));
}

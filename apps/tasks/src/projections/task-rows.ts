import type { Tx } from '@runyard/persistence';

// The rows of tasks as a batch of events changes them: read together, changed in memory, written back together.

export interface TaskRecord {
  org_id: string;
  task_id: string;
  user_id: string | null;
  created_by: string;
  title: string;
  description: string;
  acceptance: string;
  status: string;
  agent_id: string;
  model_id: string | null;
  max_steps: number;
  steps_used: number;
  phase: string | null;
  current_step: number | null;
  round: number;
  review_plan: boolean;
  blocked_by: string[];
  report: string | null;
  report_digest: string | null;
  latest_run_id: string | null;
  board_column: string;
  board_rank: string | null;
  attention: string | null;
  attention_text: string | null;
  reason: string | null;
  reason_text: string | null;
  stopping: boolean;
  active_number: number | null;
  requested_at: string | null;
  retry_at: string | null;
  created_at: string;
  updated_at: string;
  started_at: string | null;
  ended_at: string | null;
  position: string;
}

export interface StepRecord {
  seq: number;
  title: string;
  detail: string;
  status: string;
  result: string | null;
  run_id: string | null;
}

export interface LockRecord {
  fence: number;
  lock_id: string;
  holder: string;
  expires_at: string;
}

export interface RunRecord {
  number: number;
  run_id: string | null;
  phase: string;
  step: number | null;
  round: number;
  state: string;
  reason: string | null;
  steps: number;
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  total_tokens: number;
  requested_at: string;
  ended_at: string | null;
}

/** A task with all that belongs to it. */
export interface TaskImage {
  task: TaskRecord;
  steps: StepRecord[];
  lock: LockRecord | null;
  runs: RunRecord[];
}

/** What an event changes; a part that is not named stays. */
export type ImageChange = { task?: Partial<TaskRecord> } & Partial<Omit<TaskImage, 'task'>>;

export const withStep = ({ steps }: TaskImage, seq: number | null, now: Partial<StepRecord>): StepRecord[] =>
  steps.map((step) => (step.seq === seq ? { ...step, ...now } : step));

export interface TaskKey {
  org_id: string;
  task_id: string;
}

const keyOf = ({ org_id, task_id }: TaskKey): string => `${org_id} ${task_id}`;

const LOAD = `
  SELECT to_jsonb(t) AS task, to_jsonb(l) AS lock,
    COALESCE((SELECT jsonb_agg(to_jsonb(s) ORDER BY s.seq) FROM agent_task_steps s
      WHERE s.org_id = t.org_id AND s.task_id = t.task_id), '[]') AS steps,
    COALESCE((SELECT jsonb_agg(to_jsonb(r) ORDER BY r.number) FROM task_runs r
      WHERE r.org_id = t.org_id AND r.task_id = t.task_id), '[]') AS runs
  FROM agent_tasks t
  JOIN (SELECT DISTINCT org_id, task_id FROM jsonb_to_recordset($1::jsonb) AS k (org_id uuid, task_id text)) k
    USING (org_id, task_id)
  LEFT JOIN task_locks l USING (org_id, task_id)`;

/** What a batch makes of tasks; a null is one that is gone. */
export class TaskImages {
  private readonly images = new Map<string, TaskImage | null>();
  private readonly keys = new Map<string, TaskKey>();

  static async load(tx: Tx, keys: readonly TaskKey[]): Promise<TaskImages> {
    const images = new TaskImages();
    if (keys.length === 0) return images;
    for (const image of await tx.query<TaskImage>(LOAD, [JSON.stringify(keys)]))
      images.set(image.task, image);
    return images;
  }

  get(key: TaskKey): TaskImage | undefined {
    return this.images.get(keyOf(key)) ?? undefined;
  }

  set(key: TaskKey, image: TaskImage | null): void {
    this.images.set(keyOf(key), image);
    this.keys.set(keyOf(key), { org_id: key.org_id, task_id: key.task_id });
  }

  async save(tx: Tx): Promise<void> {
    const gone: TaskKey[] = [];
    const kept: TaskImage[] = [];
    for (const [text, key] of this.keys) {
      const image = this.images.get(text);
      if (image) kept.push(image);
      else gone.push(key);
    }
    if (gone.length) await tx.query(DELETE, [JSON.stringify(gone)]);
    if (kept.length === 0) return;
    const rows = <T extends object>(of: (image: TaskImage) => readonly T[]) =>
      JSON.stringify(
        kept.flatMap((image) =>
          of(image).map((row) => ({ ...row, org_id: image.task.org_id, task_id: image.task.task_id })),
        ),
      );
    await tx.query(SAVE_TASKS, [rows(({ task }) => [task])]);
    await tx.query(REPLACE_STEPS, [rows(({ task }) => [task]), rows(({ steps }) => steps)]);
    await tx.query(SAVE_STEPS, [rows(({ steps }) => steps)]);
    await tx.query(REMOVE_LOCKS, [rows(({ task, lock }) => (lock ? [] : [task]))]);
    await tx.query(SAVE_LOCKS, [rows(({ lock }) => (lock ? [lock] : []))]);
    await tx.query(SAVE_RUNS, [rows(({ runs }) => runs)]);
  }
}

const KEYS = 'jsonb_to_recordset($1::jsonb) AS k (org_id uuid, task_id text)';
const DELETE = `DELETE FROM agent_tasks t USING ${KEYS} WHERE (t.org_id, t.task_id) = (k.org_id, k.task_id)`;
const REMOVE_LOCKS = `DELETE FROM task_locks t USING ${KEYS} WHERE (t.org_id, t.task_id) = (k.org_id, k.task_id)`;
const REPLACE_STEPS = `
  DELETE FROM agent_task_steps t USING ${KEYS} WHERE (t.org_id, t.task_id) = (k.org_id, k.task_id)
  AND NOT EXISTS (SELECT 1 FROM jsonb_to_recordset($2::jsonb) AS s (org_id uuid, task_id text, seq integer)
    WHERE (s.org_id, s.task_id, s.seq) = (t.org_id, t.task_id, t.seq))`;

/** Inserts rows or overwrites all of their columns but the key's. */
function upsert(table: string, key: string, columns: readonly string[]): string {
  const all = `${key}, ${columns.join(', ')}`;
  return `INSERT INTO ${table} (${all}) SELECT ${all} FROM jsonb_populate_recordset(NULL::${table}, $1::jsonb)
    ON CONFLICT (${key}) DO UPDATE SET ${columns.map((column) => `${column} = EXCLUDED.${column}`).join(', ')}`;
}

const SAVE_TASKS = upsert(
  'agent_tasks',
  'org_id, task_id',
  `user_id created_by title description acceptance status agent_id model_id max_steps steps_used phase current_step round review_plan
   blocked_by report report_digest latest_run_id board_column board_rank attention attention_text reason reason_text stopping
   active_number requested_at retry_at created_at updated_at started_at ended_at position`.split(/\s+/),
);
const SAVE_STEPS = upsert(
  'agent_task_steps',
  'org_id, task_id, seq',
  'title detail status result run_id'.split(' '),
);
const SAVE_LOCKS = upsert('task_locks', 'org_id, task_id', 'fence lock_id holder expires_at'.split(' '));
const SAVE_RUNS = upsert(
  'task_runs',
  'org_id, task_id, number',
  'run_id phase step round state reason steps input_tokens output_tokens cached_tokens total_tokens requested_at ended_at'.split(
    ' ',
  ),
);

import { restoreText } from '@runyard/persistence';
import type { Database, Tx } from '@runyard/persistence';

/** A task that is at work, and why it is looked at. */
export interface Watched {
  org: string;
  taskId: string;
}

/** What tasks of all orgs wait for: pauses that are over, runs that were never heard of, stops that are not done. */
export class WatchQueries {
  constructor(private readonly db: Database) {}

  /** The one clock of locks, epoch ms: instances whose own clocks differ must not disagree about who holds a task (C43). */
  async now(org: string): Promise<number> {
    const [row] = await this.db.inOrg(org, (tx) =>
      tx.query<{ now: number }>('SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now'),
    );
    return Math.floor(row?.now ?? 0);
  }

  /** Deferred phases whose pause is over. */
  dueAgain(now: number): Promise<Watched[]> {
    return this.find('pauses of tasks that are over', 't.retry_at <= to_timestamp($1::float8 / 1000)', now);
  }

  /** Requests older than an instant that no run has come of, as far as is known here. */
  unheard(before: number): Promise<Watched[]> {
    const condition = `t.active_number IS NOT NULL AND t.requested_at < to_timestamp($1::float8 / 1000)
      AND NOT EXISTS (SELECT 1 FROM task_run_links k WHERE k.run_id = t.latest_run_id)`;
    return this.find('requests of tasks that nothing was heard of', condition, before);
  }

  /** Runs that have been under way since before an instant: their end may have been missed. */
  longAtWork(before: number): Promise<Watched[]> {
    const condition = 't.active_number IS NOT NULL AND t.requested_at < to_timestamp($1::float8 / 1000)';
    return this.find('runs of tasks that take long', condition, before);
  }

  stopping(): Promise<Watched[]> {
    return this.find('tasks to be stopped', 't.stopping AND $1::float8 IS NOT NULL', 0);
  }

  /** Tasks of people who were deleted. */
  ofDeparted(): Promise<(Watched & { userId: string })[]> {
    return this.db.acrossOrgs('tasks of deleted people', (tx) =>
      tx.query<Watched & { userId: string }>(
        `SELECT t.org_id AS org, t.task_id AS "taskId", t.user_id AS "userId"
         FROM departed_owners d JOIN agent_tasks t USING (org_id, user_id) LIMIT 200`,
      ),
    );
  }

  /** Tasks at work by phase, for the metrics. */
  atWork(): Promise<{ phase: string; tasks: number }[]> {
    return this.db.acrossOrgs('tasks at work', (tx) =>
      tx.query<{ phase: string; tasks: number }>(
        `SELECT phase, count(*)::int4 AS tasks FROM agent_tasks WHERE status = 'running' GROUP BY phase`,
      ),
    );
  }

  private find(reason: string, condition: string, value: number): Promise<Watched[]> {
    return this.db.acrossOrgs(reason, (tx) =>
      tx.query<Watched>(
        `SELECT t.org_id AS org, t.task_id AS "taskId" FROM agent_tasks t WHERE t.status = 'running' AND ${condition}
         ORDER BY t.requested_at LIMIT 200`,
        [value],
      ),
    );
  }
}

/** Remembers, in a reaction's transaction, that a run was queued for a task. */
export async function linkRuns(
  tx: Tx,
  links: readonly { runId: string; org: string; taskId: string }[],
): Promise<void> {
  await tx.query(
    `INSERT INTO task_run_links (run_id, org_id, task_id)
     SELECT run_id, org_id, task_id FROM jsonb_to_recordset($1::jsonb) AS k (run_id text, org_id uuid, task_id text) ON CONFLICT DO NOTHING`,
    [
      JSON.stringify(
        links.map(({ runId, org, taskId }) => ({ run_id: runId, org_id: org, task_id: taskId })),
      ),
    ],
  );
}

/** The tasks of runs: by their queueing, or, where a run was ended before it was born (P2.6), by the task's own request. */
export async function tasksOfRuns(tx: Tx, runIds: readonly string[]): Promise<Map<string, string>> {
  const rows = await tx.query<{ run_id: string; task_id: string }>(
    `SELECT run_id, task_id FROM task_run_links WHERE run_id = ANY ($1)
     UNION SELECT run_id, task_id FROM task_runs WHERE run_id = ANY ($1)`,
    [runIds],
  );
  return new Map(rows.map(({ run_id, task_id }) => [run_id, task_id]));
}

export async function unlinkRun(tx: Tx, runId: string): Promise<void> {
  await tx.query('DELETE FROM task_run_links WHERE run_id = $1', [runId]);
}

/** Sets what a task waits for; none: it waits no more. */
export async function setWaits(
  tx: Tx,
  org: string,
  taskId: string,
  waitsFor: readonly string[],
): Promise<void> {
  await tx.query('DELETE FROM task_waits WHERE org_id = $1 AND task_id = $2', [org, taskId]);
  if (waitsFor.length === 0) return;
  await tx.query(
    'INSERT INTO task_waits (org_id, task_id, waits_for) SELECT $1, $2, id FROM unnest($3::text[]) AS id ON CONFLICT DO NOTHING',
    [org, taskId, [...waitsFor]],
  );
}

export async function waitingFor(tx: Tx, org: string, taskId: string): Promise<string[]> {
  const rows = await tx.query<{ task_id: string }>(
    'SELECT task_id FROM task_waits WHERE org_id = $1 AND waits_for = $2 ORDER BY task_id',
    [org, taskId],
  );
  return rows.map(({ task_id }) => task_id);
}

/** A large text of an org, inside a reaction's transaction; null: erased. */
export async function blobOf(tx: Tx, org: string, digest: string): Promise<string | null> {
  const [row] = await tx.query<{ body: string }>(
    'SELECT body FROM archive.blobs WHERE org_id = $1 AND digest = $2',
    [org, digest],
  );
  return row ? restoreText(row.body) : null;
}

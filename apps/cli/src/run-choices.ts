import type { Choice } from './erasable-runs';

const BEFORE = 'to_timestamp($2::float8 / 1000)';

/** Runs of tasks that go on, or ended later; by the archive, since a task's row forgets a run that was deleted. */
const HELD = `(
  SELECT m[1] FROM tasks.agent_tasks t
  JOIN archive.event_log e ON e.stream = 'TASKS' AND e.org_id = t.org_id AND split_part(e.subject, '.', 5) = t.task_id,
  LATERAL regexp_matches(e.body, '"runId":"([^"]+)"', 'g') AS m
  WHERE t.org_id = $1 AND (t.ended_at IS NULL OR t.ended_at >= ${BEFORE}))`;

/** Runs that are erased together. */
export const erasableChoice = {
  /**
   * Began, or was queued where it never began, before a time (epoch ms); what was deleted went at its deletion. Not those
   * of a task that had not ended by then: a task and its runs go together.
   */
  beganBefore: (before: number): Choice => ({
    rows: `coalesce(a.started_at, a.created_at) < ${BEFORE} AND a.run_id NOT IN ${HELD}`,
    tombstones: `coalesce(d.ended_at, d.deleted_at) < ${BEFORE} AND d.run_id NOT IN ${HELD}`,
    params: [before],
  }),
  these: (runIds: readonly string[]): Choice => ({
    rows: 'a.run_id = ANY($2)',
    tombstones: 'd.run_id = ANY($2)',
    params: [[...runIds]],
  }),
  all: (): Choice => ({ rows: 'true', tombstones: 'true', params: [] }),
};

/** Runs of a person: their agents', those on their behalf, and those that they asked for. */
export const OF_PERSON = `(a.owner_id = $2 OR a.user_id::text = $2 OR a.requested_by = 'user:' || $2
  OR EXISTS (SELECT FROM run_executor.conversations c WHERE c.org_id = a.org_id AND c.conversation_id = a.conversation_id AND c.user_id::text = $2))`;

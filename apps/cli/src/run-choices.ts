import type { Choice } from './erasable-runs';

/** Runs that are erased together. */
export const erasableChoice = {
  /** Began, or was queued where it never began, before a time (epoch ms); what was deleted went at its deletion. */
  beganBefore: (before: number): Choice => ({
    rows: 'coalesce(a.started_at, a.created_at) < to_timestamp($2::float8 / 1000)',
    tombstones: 'coalesce(d.ended_at, d.deleted_at) < to_timestamp($2::float8 / 1000)',
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

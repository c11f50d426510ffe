import { BIRTH, MOVING, namesOf, recordOf, settingsOf, STEP, valuesOf } from './run-columns';

/**
 * The statements of the projection `runs`. Each takes one parameter of JSON records for a whole batch: a parameter is read
 * once, whatever the number of its rows. Their order in {@link writeBatch} keeps the unique indexes and foreign keys true.
 */

/** Runs of a batch: rows that exist, what must be remembered of them, and tombstones. */
export const LOAD_RUNS = `
SELECT w.run_id, d.run_id IS NOT NULL AS deleted, a.org_id, a.conversation_id, a.agent_id,
  a.mode, a.bounds, a.grant_tokens, a.state, a.termination, a.reason, a.model,
  round(extract(epoch FROM a.started_at) * 1000)::float8 AS started_at,
  round(extract(epoch FROM a.ended_at) * 1000)::float8 AS ended_at,
  round(extract(epoch FROM a.heartbeat_at) * 1000)::float8 AS heartbeat_at,
  a.input_tokens, a.output_tokens, a.cached_tokens, a.model_calls, a.tool_calls, a.steps,
  a.cancel_requested, round(extract(epoch FROM a.cancel_requested_at) * 1000)::float8 AS cancel_requested_at,
  a.pause_requested, round(extract(epoch FROM a.pause_expires_at) * 1000)::float8 AS pause_expires_at,
  a.sequence, a.position, p.next_seq, p.next_place, p.entry_bytes, p.turn
FROM unnest($1::text[]) AS w (run_id)
LEFT JOIN agent_runs a ON a.run_id = w.run_id
LEFT JOIN run_progress p ON p.run_id = w.run_id
LEFT JOIN deleted_runs d ON d.run_id = w.run_id
WHERE a.run_id IS NOT NULL OR d.run_id IS NOT NULL`;

/** Tombstones of orgs and of conversations that the batch speaks of. */
export const LOAD_TOMBSTONES = `
SELECT org_id, NULL AS conversation_id, NULL::bigint AS sequence FROM erased_references
WHERE kind = 'organization' AND org_id = ANY($1::uuid[])
UNION ALL
SELECT org_id, conversation_id, sequence FROM deleted_conversations
WHERE org_id = ANY($1::uuid[]) AND conversation_id = ANY($2::text[])`;

export const DELETE_RUNS = `
WITH r AS (SELECT * FROM json_to_recordset($1::json) AS r (run_id text, org_id uuid, agent_id text, state text,
    ended_at float8, input_tokens bigint, output_tokens bigint, cached_tokens bigint, sequence bigint, deleted_at float8)),
gone AS (DELETE FROM agent_runs a USING r WHERE a.run_id = r.run_id)
INSERT INTO deleted_runs (run_id, org_id, agent_id, state, ended_at, input_tokens, output_tokens, cached_tokens, sequence, deleted_at)
SELECT run_id, org_id, agent_id, state, to_timestamp(ended_at / 1000), input_tokens, output_tokens, cached_tokens, sequence,
  to_timestamp(deleted_at / 1000)
FROM r ON CONFLICT (run_id) DO NOTHING`;

/** Tombstones of erased runs; one that was deleted before has its tombstone already. */
export const ERASE_RUNS = `
WITH r AS (SELECT * FROM json_to_recordset($1::json) AS r (run_id text, org_id uuid, agent_id text, state text,
    ended_at float8, input_tokens bigint, output_tokens bigint, cached_tokens bigint, previous_run_id text,
    sequence bigint, deleted_at float8, erased_at float8)),
gone AS (DELETE FROM agent_runs a USING r WHERE a.run_id = r.run_id)
INSERT INTO deleted_runs AS d (run_id, org_id, agent_id, state, ended_at, input_tokens, output_tokens, cached_tokens,
  previous_run_id, sequence, deleted_at, erased_at)
SELECT DISTINCT ON (run_id) run_id, org_id, agent_id, state, to_timestamp(ended_at / 1000), input_tokens, output_tokens, cached_tokens,
  previous_run_id, sequence, to_timestamp(deleted_at / 1000), to_timestamp(erased_at / 1000)
FROM r ORDER BY run_id, erased_at ON CONFLICT (run_id) DO UPDATE
SET previous_run_id = excluded.previous_run_id, erased_at = coalesce(d.erased_at, excluded.erased_at)`;

/** Deletes conversations with the runs that the batch did not load; each run leaves its tombstone first. */
export const DELETE_CONVERSATIONS = `
WITH r AS (SELECT * FROM json_to_recordset($1::json)
    AS r (org_id uuid, conversation_id text, sequence bigint, "time" float8, first_sequence bigint, first_time float8)),
runs AS (INSERT INTO deleted_runs (run_id, org_id, agent_id, state, ended_at, input_tokens, output_tokens, cached_tokens, sequence, deleted_at)
  SELECT a.run_id, a.org_id, a.agent_id, a.state, a.ended_at, a.input_tokens, a.output_tokens, a.cached_tokens,
    r.first_sequence, to_timestamp(r.first_time / 1000)
  FROM agent_runs a JOIN r ON a.org_id = r.org_id AND a.conversation_id = r.conversation_id
  ON CONFLICT (run_id) DO NOTHING RETURNING run_id),
driven AS (DELETE FROM run_drivers d USING runs WHERE d.run_id = runs.run_id),
ended AS (UPDATE run_keys k SET ended = true FROM runs WHERE k.run_id = runs.run_id),
gone AS (DELETE FROM conversations c USING r WHERE c.org_id = r.org_id AND c.conversation_id = r.conversation_id)
INSERT INTO deleted_conversations AS t (org_id, conversation_id, sequence, deleted_at)
SELECT org_id, conversation_id, sequence, to_timestamp("time" / 1000) FROM r
ON CONFLICT (org_id, conversation_id) DO UPDATE SET sequence = excluded.sequence, deleted_at = excluded.deleted_at
WHERE excluded.sequence > t.sequence`;

/** Stubs of what new rows refer to; a user that was deleted stays deleted. */
export const ADD_REFERENCES = `
WITH r AS (SELECT * FROM json_to_recordset($1::json) AS r (org_id uuid, user_id uuid)),
orgs AS (INSERT INTO organizations (org_id) SELECT DISTINCT org_id FROM r ON CONFLICT DO NOTHING)
INSERT INTO users (org_id, user_id)
SELECT DISTINCT r.org_id, r.user_id FROM r
WHERE r.user_id IS NOT NULL AND NOT EXISTS (SELECT FROM erased_references e
  WHERE e.org_id = r.org_id AND e.kind = 'user' AND e.id = r.user_id)
ON CONFLICT DO NOTHING`;

export const ADD_CONVERSATIONS = `
WITH r AS (SELECT * FROM json_to_recordset($1::json)
    AS r (org_id uuid, conversation_id text, user_id uuid, title text, created_at float8))
INSERT INTO conversations AS c (org_id, conversation_id, user_id, title, created_at)
SELECT r.org_id, r.conversation_id, u.user_id, coalesce(r.title, ''), to_timestamp(r.created_at / 1000)
FROM r LEFT JOIN users u ON u.org_id = r.org_id AND u.user_id = r.user_id
ON CONFLICT (org_id, conversation_id) DO UPDATE SET title = excluded.title, user_id = excluded.user_id
WHERE (c.org_id, c.conversation_id) IN (SELECT r.org_id, r.conversation_id FROM r WHERE r.title IS NOT NULL)`;

/** A conversation keeps what it owes to a turn that was erased. */
export const KEEP_CONVERSATIONS = `
WITH r AS (SELECT * FROM json_to_recordset($1::json) AS r (org_id uuid, conversation_id text, user_id text, created_at float8))
INSERT INTO conversations (org_id, conversation_id, user_id, created_at)
SELECT r.org_id, r.conversation_id, u.user_id, to_timestamp(r.created_at / 1000)
FROM r LEFT JOIN users u ON u.org_id = r.org_id AND u.user_id::text = r.user_id
ON CONFLICT (org_id, conversation_id) DO UPDATE SET user_id = excluded.user_id, created_at = excluded.created_at`;

export const UPDATE_RUNS = `
UPDATE agent_runs a SET ${settingsOf(MOVING)}
FROM json_to_recordset($1::json) AS r (run_id text, org_id uuid, ${recordOf(MOVING)})
WHERE a.run_id = r.run_id`;

/** Ends runs whose trajectory lies in run_entries, wholly or in part: it moves into the row, in place order. */
export const END_RUNS = `
WITH r AS (SELECT * FROM json_to_recordset($1::json) AS r (run_id text, org_id uuid, ${recordOf(MOVING)})),
forgotten AS (DELETE FROM run_progress p USING r WHERE p.run_id = r.run_id),
kept AS (DELETE FROM run_entries e USING r WHERE e.run_id = r.run_id RETURNING e.run_id, e.entries::json),
added AS (SELECT * FROM json_to_recordset($2::json) AS e (run_id text, entries json)),
whole AS (SELECT run_id, jsonb_agg((placed -> 'entry')::jsonb ORDER BY (placed ->> 'place')::integer) AS entries
  FROM (SELECT * FROM kept UNION ALL SELECT * FROM added) e, json_array_elements(e.entries) placed GROUP BY run_id)
UPDATE agent_runs a SET entries = coalesce(whole.entries, '[]'), ${settingsOf(MOVING)}
FROM r LEFT JOIN whole ON whole.run_id = r.run_id
WHERE a.run_id = r.run_id`;

export const INSERT_RUNS = `
INSERT INTO agent_runs (entries, ${namesOf(BIRTH)}, ${namesOf(MOVING)})
SELECT r.entries, ${valuesOf(BIRTH)}, ${valuesOf(MOVING)}
FROM json_to_recordset($1::json) AS r (entries jsonb, parent_is_new boolean, ${recordOf(BIRTH)}, ${recordOf(MOVING)})`;

export const INSERT_STEPS = `
INSERT INTO agent_steps (${namesOf(STEP)})
SELECT ${valuesOf(STEP)} FROM json_to_recordset($1::json) AS r (${recordOf(STEP)})`;

export const INSERT_ENTRIES = `
INSERT INTO run_entries (run_id, place, org_id, entries)
SELECT * FROM json_to_recordset($1::json) AS r (run_id text, place integer, org_id uuid, entries json)`;

export const KEEP_PROGRESS = `
INSERT INTO run_progress (run_id, org_id, next_seq, next_place, entry_bytes, turn)
SELECT * FROM json_to_recordset($1::json)
  AS r (run_id text, org_id uuid, next_seq integer, next_place integer, entry_bytes bigint, turn jsonb)
ON CONFLICT (run_id) DO UPDATE SET next_seq = excluded.next_seq, next_place = excluded.next_place,
  entry_bytes = excluded.entry_bytes, turn = excluded.turn`;

export const KEEP_KEYS = `
INSERT INTO run_keys AS k (run_id, org_id, digest, ended)
SELECT * FROM json_to_recordset($1::json) AS r (run_id text, org_id uuid, digest text, ended boolean)
ON CONFLICT (run_id) DO UPDATE SET digest = coalesce(k.digest, excluded.digest), ended = k.ended OR excluded.ended`;

export const SET_DRIVERS = `
INSERT INTO run_drivers AS d (run_id, org_id, epoch, instance, heartbeat_at)
SELECT run_id, org_id, epoch, instance, to_timestamp("at" / 1000)
FROM json_to_recordset($1::json) AS r (run_id text, org_id uuid, epoch integer, instance text, "at" float8)
ON CONFLICT (run_id) DO UPDATE SET epoch = excluded.epoch, instance = excluded.instance,
  heartbeat_at = greatest(d.heartbeat_at, excluded.heartbeat_at)
WHERE excluded.epoch >= d.epoch`;

export const CLEAR_DRIVERS = `DELETE FROM run_drivers WHERE run_id = ANY($1::text[])`;

export const NOTE_UNKNOWN = `
INSERT INTO unknown_events AS u (type, times, first_position, last_position, last_sequence)
SELECT * FROM json_to_recordset($1::json)
  AS r (type text, times bigint, first_position text, last_position text, last_sequence bigint)
ON CONFLICT (type) DO UPDATE SET times = u.times + excluded.times, last_position = excluded.last_position,
  last_sequence = excluded.last_sequence
WHERE excluded.last_sequence > u.last_sequence`;

import type { Json } from '@runyard/contracts';
import { restoreJson, restoreText, toSafeInteger } from '@runyard/persistence';

/** A row as answers carry it: snake_case, times in RFC 3339, counts as numbers, texts as they came. */
export type Answer = Record<string, unknown>;

/** When a run counts as begun: what lists are ordered by, and their indexes. */
export const BEGUN = 'coalesce(a.started_at, a.created_at)';
/** The same in whole milliseconds, for cursors. */
export const BEGUN_MS = `round(extract(epoch FROM ${BEGUN}) * 1000)::float8`;

const NAMES = `a.run_id, a.parent_run_id, a.root_run_id, a.depth, a.org_id, a.user_id, a.owner_id, a.requested_by, a.agent_id,
  a.agent_version, a.trigger, a.conversation_id,
  CASE WHEN a.source_kind = 'fork' THEN a.source_run_id END AS forked_from,
  CASE WHEN a.source_kind = 'fork' THEN a.source_step END AS forked_step,
  CASE WHEN a.source_kind = 'continuation' THEN a.source_run_id END AS continues,
  CASE WHEN a.source_kind = 'retry' THEN a.source_run_id END AS retries, a.state, a.status, a.termination, a.reason, a.tier, a.model, a.mode,
  a.created_at, a.started_at, a.ended_at, greatest(a.heartbeat_at, d.heartbeat_at) AS heartbeat_at`;
const COUNTS = `a.input_tokens, a.output_tokens, a.cached_tokens, a.total_tokens, a.model_calls, a.tool_calls, a.steps`;
const REST = `a.cancel_requested, a.pause_requested, a.pause_expires_at, a.position`;

/** Longest text that a row of a list carries of input, output and error. */
const GLIMPSE = 300;
/** An answer is one message on the bus (1 MiB at most): an output of more bytes is cut in answers, and said to be. */
const OUTPUT_BYTES = 300_000;
/** So many characters are left of it: no character of UTF-8 has more than four bytes. */
const OUTPUT_CUT = OUTPUT_BYTES / 4;

const SHORT_ERROR = `CASE WHEN length(a.error->>'text') > ${GLIMPSE}
  THEN jsonb_set(a.error, '{text}', to_jsonb(left(a.error->>'text', ${GLIMPSE}) || '…')) ELSE a.error END AS error`;
const OUTPUT = `CASE WHEN octet_length(a.output) > ${OUTPUT_BYTES} THEN left(a.output, ${OUTPUT_CUT}) ELSE a.output END AS output,
  coalesce(octet_length(a.output) > ${OUTPUT_BYTES}, false) AS output_truncated`;

/** A run in a list: long texts are cut. */
export const LISTED = `${NAMES}, left(a.input, ${GLIMPSE}) AS input, left(a.output, ${GLIMPSE}) AS output, ${SHORT_ERROR}, ${COUNTS}, ${REST}`;
/** A run in a tree. */
export const BRANCH = `${NAMES}, ${SHORT_ERROR}, ${COUNTS}, ${REST}`;
/** A run whole, without its trajectory. */
export const WHOLE = `${NAMES}, a.definition, a.previous_run_id, a.approval_policy, a.bounds, a.grant_tokens,
  a.input, a.input_digest, ${OUTPUT}, a.output_digest, a.error, ${COUNTS}, ${REST}`;
export const FROM_RUNS = 'agent_runs a LEFT JOIN run_drivers d ON d.run_id = a.run_id';

export const STEP_COLUMNS = `seq, step, kind, call_id, model, tool, arguments, arguments_digest, content, content_digest,
  content_bytes, reasoning, outcome, error_code, attempts, started_at, ended_at, effect, rule_id, group_key, decided_by,
  child_run_id, finish, input_tokens, output_tokens, cached_tokens, estimated, position`;

/** The one place where values of rows become values of answers. */
export const answer = (row: Record<string, unknown>): Answer =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, valueOf(value)]));

function valueOf(value: unknown): unknown {
  if (typeof value === 'string') return restoreText(value);
  if (typeof value === 'bigint') return toSafeInteger(value);
  if (value instanceof Date) return value.toISOString();
  // Columns that are objects are jsonb.
  return typeof value === 'object' && value !== null ? restoreJson(value as Json) : value;
}

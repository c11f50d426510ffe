/** A column as statements name it: its type in the parameter, and how the parameter's value becomes the column's. */
interface Column {
  name: string;
  type: string;
  value: string;
}

const column =
  (type: string, value?: (name: string) => string) =>
  (name: string): Column => ({
    name,
    type,
    value: value ? value(name) : `r.${name}`,
  });
const text = column('text');
const int = column('integer');
const big = column('bigint');
const json = column('jsonb');
const flag = column('boolean');
/** Epoch milliseconds in the parameter. */
const time = column('float8', (name) => `to_timestamp(r.${name} / 1000)`);
const uuid = column('uuid');

export const BIRTH: readonly Column[] = [
  text('run_id'),
  uuid('org_id'),
  // References are resolved in the statement: what is not there, or not there any more, is NULL (P8.4).
  column(
    'text',
    (name) => `(SELECT p.run_id FROM agent_runs p WHERE p.run_id = r.${name} AND p.org_id = r.org_id
    UNION ALL SELECT r.${name} WHERE r.parent_is_new)`,
  )('parent_run_id'),
  text('root_run_id'),
  int('depth'),
  column(
    'uuid',
    (name) => `(SELECT u.user_id FROM users u WHERE u.org_id = r.org_id AND u.user_id = r.${name})`,
  )('user_id'),
  text('owner_id'),
  text('requested_by'),
  text('agent_id'),
  int('agent_version'),
  text('definition'),
  text('trigger'),
  text('conversation_id'),
  text('previous_run_id'),
  text('slot_key'),
  text('source_run_id'),
  text('source_kind'),
  int('source_step'),
  text('input'),
  text('input_digest'),
  text('approval_policy'),
  text('tier'),
  time('created_at'),
];

export const MOVING: readonly Column[] = [
  text('mode'),
  json('bounds'),
  big('grant_tokens'),
  text('state'),
  text('termination'),
  text('reason'),
  text('model'),
  time('started_at'),
  time('ended_at'),
  time('heartbeat_at'),
  // The final answer stands whole in its row, also where the event named a blob.
  column(
    'text',
    (name) => `coalesce((SELECT b.body FROM archive.blobs b
    WHERE b.org_id = r.org_id AND b.digest = r.output_digest), r.${name})`,
  )('output'),
  text('output_digest'),
  json('error'),
  big('input_tokens'),
  big('output_tokens'),
  big('cached_tokens'),
  int('model_calls'),
  int('tool_calls'),
  int('steps'),
  text('cancel_requested'),
  time('cancel_requested_at'),
  flag('pause_requested'),
  time('pause_expires_at'),
  big('sequence'),
  text('position'),
];

export const STEP: readonly Column[] = [
  text('run_id'),
  int('seq'),
  uuid('org_id'),
  int('step'),
  text('kind'),
  text('call_id'),
  text('model'),
  text('tool'),
  text('arguments'),
  text('arguments_digest'),
  text('content'),
  text('content_digest'),
  big('content_bytes'),
  text('reasoning'),
  text('outcome'),
  text('error_code'),
  int('attempts'),
  time('started_at'),
  time('ended_at'),
  text('effect'),
  text('rule_id'),
  text('group_key'),
  text('decided_by'),
  text('child_run_id'),
  text('finish'),
  big('input_tokens'),
  big('output_tokens'),
  big('cached_tokens'),
  flag('estimated'),
  text('position'),
];

/** `name, name …` */
export const namesOf = (columns: readonly Column[]): string => columns.map(({ name }) => name).join(', ');
/** What the columns are set to, from a record `r`. */
export const valuesOf = (columns: readonly Column[]): string => columns.map(({ value }) => value).join(', ');
/** `name = value, …` */
export const settingsOf = (columns: readonly Column[]): string =>
  columns.map(({ name, value }) => `${name} = ${value}`).join(', ');
/** `name type, …` of the record that a parameter is read as. */
export const recordOf = (columns: readonly Column[]): string =>
  columns.map(({ name, type }) => `${name} ${type}`).join(', ');

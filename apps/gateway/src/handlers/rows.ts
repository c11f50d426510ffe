import { MODES, ROLES, RUN_STATES, TERMINATIONS, TRIGGERS } from '@runyard/contracts';
import { z } from 'zod';

// Shapes of answers for the API description. Services own their rows and may add members, so these are open: they say
// what a client may rely on.

const time = z.iso.datetime({ offset: true });
const text = z.string();
const count = z.int().min(0);
const position = z
  .string()
  .describe('Position in the log that the row reflects; pass it as at_least to read your own write');
const named = <T extends z.ZodType>(id: string, schema: T): T => schema.meta({ id });

/** A page of a list; `next_cursor` is null on the last one. */
export const pageOf = (id: string, row: z.ZodType) =>
  named(id, z.looseObject({ data: z.array(row), next_cursor: z.string().nullable() }));
export const listOf = (id: string, row: z.ZodType) => named(id, z.looseObject({ data: z.array(row) }));

export const agentRow = named(
  'Agent',
  z.looseObject({
    agent_id: text,
    agent_version: z.int().min(1),
    owner_id: z.uuid(),
    name: text,
    description: text,
    prompt: text,
    model_id: text.nullable(),
    tools: z.array(text),
    bounds: z.looseObject({}),
    approval_policy: z.enum(['park', 'end']),
    mode: z.enum(MODES),
    concurrency: z.enum(['agent', 'conversation', 'unlimited']),
    overlap: z.enum(['skip', 'queue', 'replace']),
    schedule: z.looseObject({}).nullable(),
    meta: z.looseObject({}),
    enabled: z.boolean(),
    admin_paused: z.boolean(),
    start_conditions: z
      .array(z.looseObject({ code: text, reason: text }))
      .describe('What keeps the agent from starting; empty when nothing does'),
    etag: text.describe('Send it as If-Match with the next change'),
    created_at: time,
    updated_at: time,
    position,
  }),
);
export const agentVersionRow = named(
  'AgentVersion',
  z.looseObject({
    agent_id: text,
    agent_version: z.int().min(1),
    prompt: text,
    model_id: text.nullable(),
    tools: z.array(text),
    created_at: time,
    created_by: text,
  }),
);
export const modelRow = named(
  'Model',
  z.looseObject({
    model_id: text,
    label: text,
    tier: text,
    provider: z.looseObject({ kind: text }),
    model: text,
    context_window: count,
    max_output_tokens: count,
    fallbacks: z.array(text),
    is_default: z.boolean(),
  }),
);
export const toolRow = named(
  'Tool',
  z.looseObject({
    name: text,
    description: text,
    input_schema: z.looseObject({}),
    effect: z.enum(['read', 'write']),
    idempotent: z.boolean(),
    agents_allowed: z.boolean(),
    timeout_ms: count,
    ends_run: z.boolean(),
  }),
);
export const promptRow = named('PlatformPrompt', z.looseObject({ prompt: text }));
export const orgRow = named(
  'Organization',
  z.looseObject({ org_id: z.uuid(), name: text, time_zone: text, created_at: time }),
);
export const userRow = named(
  'User',
  z.looseObject({
    user_id: z.uuid(),
    email: text,
    name: text,
    time_zone: text.nullable(),
    roles: z.array(z.enum(ROLES)),
    active: z.boolean(),
    created_at: time,
  }),
);
export const keyRow = named(
  'Key',
  z.looseObject({
    key_id: text,
    label: text,
    roles: z.array(z.enum(ROLES)),
    user_id: z.uuid().nullable(),
    created_at: time,
    expires_at: time.nullable(),
    revoked_at: time.nullable(),
  }),
);
export const createdKeyRow = named(
  'CreatedKey',
  z.looseObject({
    key_id: text,
    label: text,
    key: text
      .nullable()
      .describe('The key itself, shown in this answer only; null when the answer is replayed'),
  }),
);
export const conversationRow = named(
  'Conversation',
  z.looseObject({ conversation_id: text, title: text, user_id: z.uuid().nullable(), created_at: time }),
);

export const runRow = named(
  'Run',
  z.looseObject({
    run_id: text,
    agent_id: text,
    agent_version: z.int(),
    parent_run_id: text.nullable(),
    root_run_id: text,
    conversation_id: text.nullable(),
    user_id: z.uuid().nullable(),
    requested_by: text.nullable(),
    trigger: z.enum(TRIGGERS),
    state: z.enum(RUN_STATES),
    status: text.describe("The state in the dialog runner's words; every unfinished one is running"),
    termination: z.enum(TERMINATIONS).nullable(),
    reason: text.nullable(),
    created_at: time,
    started_at: time.nullable(),
    ended_at: time.nullable(),
    output: text.nullable(),
    steps: count,
    model_calls: count,
    tool_calls: count,
    position,
  }),
);
export const startedRow = named(
  'StartedRun',
  z.looseObject({
    run_id: text,
    state: z
      .enum(RUN_STATES)
      .nullable()
      .describe('null where the request is stored, but intake has not answered yet'),
    reason: text.nullable(),
    position: text.nullable(),
    created: z.boolean().nullable().describe('false where the key named this run before'),
  }),
);
export const controlledRow = named(
  'ControlledRun',
  z.looseObject({ run_id: text, state: z.enum(RUN_STATES), position }),
);
export const stepRow = named(
  'Step',
  z.looseObject({ seq: count, kind: z.enum(['model_turn', 'tool_call', 'approval']) }),
);
export const stepPage = named(
  'StepPage',
  z.looseObject({
    data: z.array(stepRow),
    next_after: z.int().nullable().describe('Pass it as after for the rest'),
  }),
);
export const inspectRow = named(
  'RunInspection',
  z.looseObject({
    run: runRow,
    tree: z.array(z.looseObject({ run_id: text })).describe('Runs that it delegated to, at any depth'),
    tree_truncated: z.boolean(),
    steps: z.array(stepRow),
    next_after: z.int().nullable(),
  }),
);
export const trajectoryRow = named(
  'Trajectory',
  z.looseObject({
    run_id: text,
    state: z.enum(RUN_STATES),
    complete: z.boolean(),
    position,
    entries: z.array(z.looseObject({ kind: text })),
    next_after: z.int().nullable(),
  }),
);
export const eventFrame = named(
  'RunEvent',
  z.object({ run_id: text, type: text, time, position: text, actor: text, data: z.unknown() }),
);
export const eventPage = named(
  'RunEventPage',
  z.object({
    data: z.array(eventFrame),
    next_cursor: text.nullable(),
    last_cursor: text.nullable(),
    ended: z.boolean(),
  }),
);
/** Answer of a change; carries at least the position of what was decided. */
export const changeRow = named('Change', z.looseObject({ position }));

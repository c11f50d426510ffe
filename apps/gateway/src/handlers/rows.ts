import { MODES, ROLES } from '@runyard/contracts';
import { z } from 'zod';

// Shapes of answers for the API description. Services own their rows and may add members, so these are open: they say
// what a client may rely on.

const time = z.iso.datetime({ offset: true });
const text = z.string();
const count = z.int().min(0);
const position = z
  .string()
  .describe('Position in the log that the row reflects; pass it as at_least to read your own write');
/** Gives a schema its name in the API description. */
export const named = <T extends z.ZodType>(id: string, schema: T): T => schema.meta({ id });

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
    catch_up: z.enum(['latest', 'none']),
    schedule: z.looseObject({}).nullable(),
    meta: z.looseObject({}),
    enabled: z.boolean(),
    admin_paused: z.boolean(),
    start_conditions: z
      .array(z.looseObject({ code: text, reason: text }))
      .describe('What keeps the agent from starting; empty when nothing does'),
    next_run_at: time
      .nullable()
      .optional()
      .describe(
        'Null: by hand only, switched off, locked, without model or owner. Absent: the scheduler cannot be asked now',
      ),
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
export const versionDiffRow = named(
  'VersionDiff',
  z.looseObject({
    agent_id: text,
    from: z.int(),
    to: z.int(),
    changes: z.array(
      z.looseObject({
        field: text,
        lines: z
          .array(z.looseObject({ kind: z.enum(['same', 'removed', 'added']), lines: z.array(text) }))
          .optional()
          .describe('Of texts: what both have, and what one of them has'),
      }),
    ),
  }),
);
export const slotRow = named(
  'Slot',
  z.looseObject({
    at: time,
    local: text.describe('The same instant on the wall clock of `time_zone`'),
    time_zone: text,
    mark: z
      .enum(['gap', 'fold'])
      .nullable()
      .describe(
        'gap: the asked-for time does not exist that day, this is the first instant after; fold: it exists twice, this is the first',
      ),
  }),
);
export const upcomingRow = named(
  'Upcoming',
  z.looseObject({
    agent_id: text,
    next_run_at: time
      .nullable()
      .describe('Null: by hand only, or a start condition is closed, or the schedule never fires'),
    waiting_since: time.nullable().describe('A slot that waits for a run to end'),
    slots: z.array(slotRow),
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
  z.looseObject({
    org_id: z.uuid(),
    name: text,
    time_zone: text,
    retention_days: count.nullable().describe('Days that runs are kept after they began; null: for ever'),
    created_at: time,
  }),
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

/** Answer of a change; carries at least the position of what was decided. */
export const changeRow = named('Change', z.looseObject({ position }));

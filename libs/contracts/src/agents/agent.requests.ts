import { z } from 'zod';
import { boundsSchema } from '../runs/run.requests';
import { MODES } from '../runs/run.states';
import { integerSchema, timeSchema } from '../storable';
import { TOKEN, withArticle } from '../token';
import { scheduleSchema } from './schedule.requests';

/** Author-facing name of an agent, unique in the org. Lower case, so that no two differ by case alone. */
export const agentSlug = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,63}$/,
    'must be 1 to 64 characters out of a-z, 0-9, "_" and "-", starting with a letter or digit',
  );
export const rowId = (what: string) =>
  z
    .string()
    .regex(TOKEN, `must be ${withArticle(what)} of 1 to 80 characters out of A-Z, a-z, 0-9, "_" and "-"`);
export const toolNameSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9_-]{1,64}$/,
    'must be a tool name of 1 to 64 characters out of A-Z, a-z, 0-9, "_" and "-"',
  );
const text = (max: number) => z.string().max(max, `must be at most ${max} characters`);
const filled = (max: number) => text(max).refine((value) => value.trim() !== '', 'must not be empty');

/** Position in the log, `<stream sequence>.<index>`. A read that names one waits briefly until it reflects it. */
export const positionSchema = z
  .string()
  .regex(/^\d{1,16}\.\d{1,6}$/, 'must be a position as a write answered it');
/** An earlier moment: a position in the log (its whole commit), or an RFC 3339 time. Reads answer what was so then. */
export const asOfSchema = z.union(
  [z.string().regex(/^\d{1,15}\.\d{1,6}$/), timeSchema()],
  'must be a position, or an RFC 3339 time with an offset',
);
/** Version of an agent together with its revision, as reads and writes answer it in `etag`. */
export const etagSchema = z
  .string()
  .regex(/^\d{1,9}\.\d{1,9}$/, 'must be an etag as a read or write answered it');
export const pageSchema = {
  limit: z
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(200, 'must be at most 200')
    .default(50),
  /** `next_cursor` of the page before. */
  cursor: text(500).optional(),
  at_least: positionSchema.optional(),
};

/** The owner's prompt may be long, but a commit must stay small (architecture, section 2). */
export const MAX_PROMPT = 40_000;

const agentFields = {
  name: filled(200),
  description: text(4_000),
  prompt: filled(MAX_PROMPT),
  /** Null: no model; the agent does not start. */
  model_id: rowId('model id').nullable(),
  tools: z.array(toolNameSchema).max(64, 'must be at most 64 tools'),
  bounds: boundsSchema,
  approval_policy: z.enum(['park', 'end'], 'must be park or end'),
  mode: z.enum(MODES, `must be one of ${MODES.join(', ')}`),
  concurrency: z.enum(['agent', 'conversation', 'unlimited'], 'must be agent, conversation or unlimited'),
  overlap: z.enum(['skip', 'queue', 'replace'], 'must be skip, queue or replace'),
  /** One run for the newest of the slots that were missed, if it is at most a day old; or none. */
  catch_up: z.enum(['latest', 'none'], 'must be latest or none'),
  schedule: scheduleSchema.nullable(),
  meta: z
    .record(z.string().min(1).max(80), z.json())
    .refine((meta) => JSON.stringify(meta).length <= 16_384, 'must be at most 16 KiB of JSON'),
};

/** `agents.create`. A `model_id` that is left out takes the list's default; `owner_id` is for admins, others own what they create. */
export const createAgentSchema = z.strictObject({
  agent_id: agentSlug,
  owner_id: z.uuid('must be the id of a user').optional(),
  ...agentFields,
  description: agentFields.description.default(''),
  model_id: agentFields.model_id.optional(),
  tools: agentFields.tools.default([]),
  bounds: agentFields.bounds.default({}),
  approval_policy: agentFields.approval_policy.default('park'),
  mode: agentFields.mode.default('ask'),
  concurrency: agentFields.concurrency.default('agent'),
  overlap: agentFields.overlap.default('skip'),
  catch_up: agentFields.catch_up.default('latest'),
  schedule: agentFields.schedule.default(null),
  meta: agentFields.meta.default({}),
  enabled: z.boolean('must be true or false').default(true),
});
export type CreateAgentInput = z.infer<typeof createAgentSchema>;

/** `agents.update`: the fields that change. `if_match` refuses the edit when somebody else edited in between. */
export const updateAgentSchema = z.strictObject({
  agent_id: agentSlug,
  if_match: etagSchema.optional(),
  ...z.strictObject(agentFields).partial().shape,
});
export type UpdateAgentInput = z.infer<typeof updateAgentSchema>;

/** `agents.get`, and the reference in every other command. */
export const agentRefSchema = z.strictObject({ agent_id: agentSlug, at_least: positionSchema.optional() });
/** `agents.get`. */
export const readAgentSchema = agentRefSchema.extend({ as_of: asOfSchema.optional() });
/** `agents.enable`, `agents.disable`, `agents.lock`, `agents.unlock`. */
export const agentSwitchSchema = z.strictObject({
  agent_id: agentSlug,
  reason: filled(500).nullable().default(null),
  if_match: etagSchema.optional(),
});
/** `agents.delete`. `keep` leaves the agent's runs; `purge` erases them. */
export const deleteAgentSchema = z.strictObject({
  agent_id: agentSlug,
  history: z.enum(['keep', 'purge'], 'must be keep or purge').default('keep'),
  if_match: etagSchema.optional(),
});
/** `agents.list`, by name. Members get their own agents, whatever they ask for. */
export const listAgentsSchema = z.strictObject({
  ...pageSchema,
  owner_id: z.uuid('must be the id of a user').optional(),
  model_id: rowId('model id').optional(),
  enabled: z.boolean('must be true or false').optional(),
  admin_paused: z.boolean('must be true or false').optional(),
  /** Part of the name or the id. */
  search: text(200).optional(),
});
const versionNumber = integerSchema(1);
/** `agents.versions`, newest first. */
export const listAgentVersionsSchema = z.strictObject({ agent_id: agentSlug, ...pageSchema });
/** `agents.version`. */
export const agentVersionSchema = z.strictObject({
  agent_id: agentSlug,
  version: versionNumber,
  at_least: positionSchema.optional(),
});

/** `agents.diff`: what a version changed. `from` left out: the version before it. */
export const diffVersionsSchema = z.strictObject({
  agent_id: agentSlug,
  version: versionNumber,
  from: versionNumber.optional(),
  at_least: positionSchema.optional(),
});
/** `agents.restore`: the behaviour of an old version, as a new one. */
export const restoreVersionSchema = z.strictObject({
  agent_id: agentSlug,
  version: versionNumber,
  if_match: etagSchema.optional(),
});

/** Why an agent does not start (domain, section 2). */
export const START_CONDITIONS = [
  'agent_disabled',
  'agent_locked',
  'agent_without_model',
  'owner_inactive',
] as const;
export type StartCondition = (typeof START_CONDITIONS)[number];

import { z } from 'zod';
import { asOfSchema, pageSchema, positionSchema, rowId } from '../agents/agent.requests';
import { continuedDecisionSchema, forkSchema } from './origin';
import { boundsSchema, extendSchema, modeSchema } from './run.requests';
import { integerSchema, timeSchema } from '../storable';
import { MODES, RUN_STATES, TERMINATIONS, TRIGGERS } from './run.states';

// What may be asked about runs and conversations: checked at the door and again where the rows are.

const runId = rowId('run id');
const time = timeSchema();
const atLeast = positionSchema.optional();

/** Statuses in the dialog runner's words. */
export const DIALOG_STATUSES = [
  'running',
  'completed',
  'budget_exhausted',
  'spend_limit_exceeded',
  'error',
  'cancelled',
  'skipped',
] as const;

export const runRefSchema = z.strictObject({ run_id: runId });
export const runReadSchema = runRefSchema.extend({ at_least: atLeast });
/** `runs.get`. */
export const runGetSchema = runReadSchema.extend({ as_of: asOfSchema.optional() });

/** `runs.steps` and `runs.trajectory`: a part of a run, from `after` (the `next_after` of the page before) on. */
export const runPartSchema = runReadSchema.extend({
  after: integerSchema(0).optional(),
  limit: z
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(1_000, 'must be at most 1000')
    .optional(),
});

/** `runs.list`: all filters that are given must hold. */
export const listRunsSchema = z.strictObject({
  ...pageSchema,
  agent_id: rowId('agent id').optional(),
  state: z.enum(RUN_STATES, `must be one of ${RUN_STATES.join(', ')}`).optional(),
  status: z.enum(DIALOG_STATUSES, `must be one of ${DIALOG_STATUSES.join(', ')}`).optional(),
  termination: z.enum(TERMINATIONS, `must be one of ${TERMINATIONS.join(', ')}`).optional(),
  parent_run_id: runId.optional(),
  /** Its forks, continuations and retries. */
  source_run_id: runId.optional(),
  /** Those that a bulk action was about. */
  bulk_action_id: rowId('bulk action id').optional(),
  conversation_id: rowId('conversation id').optional(),
  trigger: z.enum(TRIGGERS, `must be one of ${TRIGGERS.join(', ')}`).optional(),
  user_id: z.uuid('must be the id of a user').optional(),
  /** When the run began, or was queued where it has not begun. */
  from: time.optional(),
  to: time.optional(),
});

/** The caller's idempotency key, where the door has one. */
export const idempotencyKey = z
  .string()
  .min(1, 'must not be empty')
  .max(255, 'must be at most 255 characters')
  .optional();

export const extendRunSchema = z.strictObject({ run_id: runId, ...extendSchema.shape });
export const forkRunSchema = z.strictObject({
  run_id: runId,
  ...forkSchema.shape,
  bounds: boundsSchema.optional(),
  mode: z.enum(MODES).optional(),
  key: idempotencyKey,
});
export const retryRunSchema = z.strictObject({ run_id: runId, key: idempotencyKey });
export const continueRunSchema = z.strictObject({ run_id: runId, ...continuedDecisionSchema.shape });
export const setRunModeSchema = z.strictObject({ run_id: runId, ...modeSchema.shape });

export const conversationRefSchema = z.strictObject({ conversation_id: rowId('conversation id') });
export const conversationReadSchema = conversationRefSchema.extend({ at_least: atLeast });
export const createConversationSchema = z.strictObject({
  conversation_id: rowId('conversation id').optional(),
  title: z.string().max(500, 'must be at most 500 characters').default(''),
});
export const listConversationsSchema = z.strictObject({
  ...pageSchema,
  user_id: z.uuid('must be the id of a user').optional(),
});

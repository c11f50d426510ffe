import {
  RUN_STATES,
  TERMINATIONS,
  TRIGGERS,
  extendSchema,
  modeSchema,
  pageSchema,
  positionSchema,
  rowId,
  startRunSchema,
} from '@runyard/contracts';
import { z } from 'zod';

// What the gateway reads for runs and conversations; the executor checks the same again on its side of the bus.

const runId = rowId('run id');
const time = z.iso.datetime({ offset: true, error: 'must be an RFC 3339 time' });

/** A run in the path. */
export const runRef = z.strictObject({ run_id: runId });
/** A run in the path of a read. */
export const runRead = runRef.extend({ at_least: positionSchema.optional() });

/** Statuses in the dialog runner's words (contracts, run.states). */
const STATUSES = [
  'running',
  'completed',
  'budget_exhausted',
  'spend_limit_exceeded',
  'error',
  'cancelled',
  'skipped',
] as const;

/** Filters of the list of runs; all that are given must hold. */
export const listRuns = z.strictObject({
  ...pageSchema,
  agent_id: rowId('agent id').optional(),
  state: z.enum(RUN_STATES, `must be one of ${RUN_STATES.join(', ')}`).optional(),
  status: z.enum(STATUSES, `must be one of ${STATUSES.join(', ')}`).optional(),
  termination: z.enum(TERMINATIONS, `must be one of ${TERMINATIONS.join(', ')}`).optional(),
  parent_run_id: runId.optional(),
  conversation_id: rowId('conversation id').optional(),
  trigger: z.enum(TRIGGERS, `must be one of ${TRIGGERS.join(', ')}`).optional(),
  user_id: z.uuid('must be the id of a user').optional(),
  from: time.optional(),
  to: time.optional(),
});

/** `POST /v1/runs`; `stream` is for the query. */
export const startRun = startRunSchema.extend({ stream: z.boolean('must be true or false').default(false) });

/** `runs.extend`; that something is raised is checked where the run is. */
export const extendRun = z.strictObject({ run_id: runId, ...extendSchema.shape });
export const setMode = z.strictObject({ run_id: runId, ...modeSchema.shape });

/** Steps come in order, so the list may be continued by position. */
export const listSteps = runRead;

/** A cursor of the event stream; EventSource cannot set headers on its first request, hence the parameter. */
export const runEvents = runRef.extend({
  after: z.string().max(100, 'must be at most 100 characters').optional(),
  limit: z
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(1_000, 'must be at most 1000')
    .default(200),
});

export const conversationRef = z.strictObject({ conversation_id: rowId('conversation id') });
export const conversationRead = conversationRef.extend({ at_least: positionSchema.optional() });
export const createConversation = z.strictObject({
  conversation_id: rowId('conversation id').optional(),
  title: z.string().max(500, 'must be at most 500 characters').default(''),
});
export const listConversations = z.strictObject({
  ...pageSchema,
  user_id: z.uuid('must be the id of a user').optional(),
});

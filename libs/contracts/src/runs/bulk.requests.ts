import { z } from 'zod';
import { pageSchema, positionSchema, rowId } from '../agents/agent.requests';
import { idempotencyKey, listRunsSchema } from './run.queries';

// What may be asked about actions on many runs at once.

export const BULK_KINDS = ['cancel', 'pause', 'resume', 'retry'] as const;
export type BulkKind = (typeof BULK_KINDS)[number];

/** `requested`: its driver, or intake, has still to obey. */
export const BULK_OUTCOMES = ['done', 'requested', 'refused'] as const;
export type BulkOutcome = (typeof BULK_OUTCOMES)[number];

export const BULK_STATES = ['running', 'aborting', 'aborted', 'completed'] as const;
export type BulkState = (typeof BULK_STATES)[number];

/** The filter of the list of runs, without its paging. */
export const bulkFilterSchema = listRunsSchema.omit({ limit: true, cursor: true, at_least: true });

/** `bulk.start`: what is done to every run that the filter finds and that it can be done to. */
export const bulkActionSchema = z.strictObject({
  action: z.enum(BULK_KINDS, `must be one of ${BULK_KINDS.join(', ')}`),
  filter: bulkFilterSchema,
  /** True: says which runs it would be, and does nothing. */
  preview: z.boolean('must be true or false').default(false),
});
export const startBulkActionSchema = bulkActionSchema.extend({ key: idempotencyKey });

const ref = { bulk_action_id: rowId('bulk action id') };
export const bulkRefSchema = z.strictObject(ref);
export const bulkReadSchema = z.strictObject({ ...ref, at_least: positionSchema.optional() });
export const listBulkActionsSchema = z.strictObject({
  ...pageSchema,
  state: z.enum(BULK_STATES, `must be one of ${BULK_STATES.join(', ')}`).optional(),
});
/** `bulk.results`: runs in the order in which they are told. */
export const bulkResultsSchema = z.strictObject({
  ...ref,
  ...pageSchema,
  /** `none`: those that were not told anything, or not yet. */
  outcome: z.enum([...BULK_OUTCOMES, 'none'], `must be one of ${BULK_OUTCOMES.join(', ')}, none`).optional(),
});

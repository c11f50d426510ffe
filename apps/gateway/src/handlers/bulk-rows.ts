import { BULK_KINDS, BULK_OUTCOMES, BULK_STATES } from '@runyard/contracts';
import { z } from 'zod';
import { named } from './rows';

// Shapes of answers about bulk actions; open as those in rows.ts.

const time = z.iso.datetime({ offset: true });
const text = z.string();
const count = z.int().min(0);

export const bulkPreviewRow = named(
  'BulkPreview',
  z.looseObject({
    action: z.enum(BULK_KINDS),
    preview: z.literal(true),
    count: count.describe('All runs that it would be, not a page of them'),
    sample: z.array(text).describe('The newest of them'),
  }),
);
export const bulkRow = named(
  'BulkAction',
  z.looseObject({
    bulk_action_id: text,
    action: z.enum(BULK_KINDS),
    filter: z.looseObject({}).describe('As it was asked'),
    state: z.enum(BULK_STATES),
    requested_by: text,
    runs: count.describe('Runs chosen so far'),
    chosen: z.boolean().describe('Whether those are all'),
    handled: count.describe('Runs that have their result'),
    outcomes: z.looseObject({ done: count, requested: count, refused: count }),
    created_at: time,
    abort_requested_at: time.nullable(),
    abort_requested_by: text.nullable(),
    ended_at: time.nullable(),
    position: z.string().describe('Position in the log that the row reflects; pass it as at_least'),
  }),
);
export const bulkResultRow = named(
  'BulkResult',
  z.looseObject({
    run_id: text,
    outcome: z
      .enum(BULK_OUTCOMES)
      .nullable()
      .describe('requested: its driver, or intake, has still to obey. null: not told anything, or not yet'),
    state: text.nullable().describe('State of the run when it had been told'),
    code: text.nullable().describe('Why it was refused'),
    detail: text.nullable(),
    new_run_id: text.nullable().describe('The run that tries it again'),
  }),
);

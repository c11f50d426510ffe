import { runRefSchema, startRunSchema } from '@runyard/contracts';
import type { StartRun } from '@runyard/contracts';
import { z } from 'zod';

// What only the door reads: how to answer, not what to do. Everything else is in the contracts.

/** `POST /v1/runs`; `stream` stands in the query. A run for an eval competes with no other run of its agent. */
export const startRun = startRunSchema.extend({
  purpose: z.literal('eval', 'must be eval').optional(),
  stream: z.boolean('must be true or false').default(false),
});
export type StartRunBody = StartRun & { purpose?: 'eval' };

/** `after` is a cursor of the event stream; EventSource cannot set headers on its first request, hence the parameter. */
export const runEvents = runRefSchema.extend({
  after: z.string().max(100, 'must be at most 100 characters').optional(),
  limit: z
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(1_000, 'must be at most 1000')
    .default(200),
});

/** `GET /v1/tasks/events`: the same for a board. */
export const boardEvents = runEvents.omit({ run_id: true });

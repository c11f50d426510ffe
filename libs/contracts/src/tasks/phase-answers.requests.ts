import { z } from 'zod';
import { MOST_TASK_STEPS } from './task.states';
import { stepSchema } from './task.requests';

// What the runs of a task's phases answer: the declared formats that their prompts ask for.

const said = z.string().trim().min(1, 'must not be empty').max(4_000, 'must be at most 4000 characters');

/** A phase that cannot go on: `needs_input` asks a person, `blocked` says that another task has to come first. */
export const holdOutputSchema = z.union([
  z.strictObject({ needs_input: said }),
  z.strictObject({ blocked: said }),
]);
export type HoldOutput = z.output<typeof holdOutputSchema>;

export const planOutputSchema = z.strictObject({
  steps: z
    .array(stepSchema)
    .min(1, 'must have at least one step')
    .max(MOST_TASK_STEPS, `must have at most ${MOST_TASK_STEPS} steps`),
});

export const verdictOutputSchema = z.strictObject({
  accepted: z.boolean('must be true or false'),
  reason: said,
  /** Numbers of the steps to be done again; none named: all. */
  redo: z.array(z.int('must be the number of a step').min(1, 'must be the number of a step')).default([]),
});

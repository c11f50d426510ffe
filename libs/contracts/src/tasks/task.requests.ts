import { z } from 'zod';
import { asOfSchema, pageSchema, positionSchema, rowId } from '../agents/agent.requests';
import { MOST_TASK_STEPS, TASK_STATUSES } from './task.states';

// What may be asked of tasks: checked at the door and again where they are.

const text = (max: number) => z.string().max(max, `must be at most ${max} characters`);
const filled = (max: number) => text(max).refine((value) => value.trim() !== '', 'must not be empty');
const whole = (min: number, max: number) =>
  z.int('must be a whole number').min(min, `must be at least ${min}`).max(max, `must be at most ${max}`);

/** Ids are given by the service; what is no such id is no task. */
export const taskId = z.string().regex(/^task_[0-9a-z]{20,40}$/, 'must be the id of a task');
const column = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,39}$/, 'must be 1 to 40 characters out of a-z, 0-9, "_" and "-"');
/** The token of the lock under which an edit is made; the write itself checks it. */
const fence = whole(1, Number.MAX_SAFE_INTEGER);
const ttl = whole(5, 3_600).default(60);
const lockId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,80}$/, 'must be 1 to 80 characters out of A-Z, a-z, 0-9, "_" and "-"');

/** Columns that a new board has in mind; any other name makes a column of its own. */
export const FIRST_COLUMN = 'todo';
export const MOST_TEXT = 10_000;

const fields = {
  title: filled(200),
  description: text(MOST_TEXT),
  acceptance: text(MOST_TEXT),
  agent_id: rowId('agent id'),
  model_id: rowId('model id').nullable(),
  max_steps: whole(1, MOST_TASK_STEPS),
  blocked_by: z.array(taskId).max(20, 'must be at most 20 tasks'),
  review_plan: z.boolean('must be true or false'),
};
export const stepSchema = z.strictObject({ title: filled(200), detail: text(2_000).default('') });
const steps = z.array(stepSchema).max(MOST_TASK_STEPS, `must be at most ${MOST_TASK_STEPS} steps`);

export const createTaskSchema = z.strictObject({
  ...fields,
  description: fields.description.default(''),
  acceptance: fields.acceptance.default(''),
  model_id: fields.model_id.default(null),
  max_steps: fields.max_steps.default(MOST_TASK_STEPS),
  blocked_by: fields.blocked_by.default([]),
  review_plan: fields.review_plan.default(false),
  column: column.default(FIRST_COLUMN),
});
export const taskRefSchema = z.strictObject({ task_id: taskId });
export const taskReadSchema = taskRefSchema.extend({ at_least: positionSchema.optional() });
/** `tasks.get` and `tasks.steps`. */
export const taskGetSchema = taskReadSchema.extend({ as_of: asOfSchema.optional() });
export const updateTaskSchema = z.strictObject({
  task_id: taskId,
  fence,
  ...z.strictObject(fields).partial().shape,
});
export const setTaskStepsSchema = z.strictObject({ task_id: taskId, fence, steps });
export const deleteTaskSchema = z.strictObject({ task_id: taskId, fence });
export const completeTaskSchema = z.strictObject({ task_id: taskId, fence, report: filled(MOST_TEXT) });
export const startTaskSchema = z.strictObject({
  task_id: taskId,
  /** What the agent should know beyond the task: an answer to its question, for instance. */
  note: filled(4_000).optional(),
});
/** Where neither `after` nor `index` is given, the card goes to the column's end. */
export const moveTaskSchema = z.strictObject({
  task_id: taskId,
  column,
  /** The card that it comes behind; null: it becomes the first. */
  after: taskId.nullable().optional(),
  /** Its place in the column, from 0; beyond the end means the end. */
  index: whole(0, 1_000_000).optional(),
});
export const listTasksSchema = z.strictObject({
  ...pageSchema,
  status: z.enum(TASK_STATUSES, `must be one of ${TASK_STATUSES.join(', ')}`).optional(),
  column: column.optional(),
  agent_id: rowId('agent id').optional(),
  user_id: z.uuid('must be the id of a user').optional(),
  as_of: asOfSchema.optional(),
});
export const lockTaskSchema = z.strictObject({
  task_id: taskId,
  /** Names the attempt: asking again with the same id is the same lock. A new attempt needs a new one. */
  lock_id: lockId.optional(),
  ttl_seconds: ttl,
  /** Take a live lock from its holder; for admins. An expired one needs no stealing right. */
  steal: z.boolean('must be true or false').default(false),
});
export const renewLockSchema = z.strictObject({ task_id: taskId, fence, ttl_seconds: ttl });
export const releaseLockSchema = z.strictObject({ task_id: taskId, fence });
export const claimTaskSchema = z.strictObject({
  column: column.optional(),
  agent_id: rowId('agent id').optional(),
  lock_id: lockId.optional(),
  ttl_seconds: ttl,
});
export const taskActivitySchema = z.strictObject({ ...pageSchema, task_id: taskId.optional() });

export type CreateTaskInput = z.output<typeof createTaskSchema>;
export type UpdateTaskInput = z.output<typeof updateTaskSchema>;
export type MoveTaskInput = z.output<typeof moveTaskSchema>;

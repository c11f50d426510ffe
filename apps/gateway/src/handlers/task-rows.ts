import { TASK_ATTENTIONS, TASK_PHASES, TASK_STATUSES } from '@runyard/contracts';
import { z } from 'zod';
import { listOf, named, pageOf } from './rows';

// Shapes of what tasks answer, for the API description.

const time = z.iso.datetime({ offset: true });
const text = z.string();
const count = z.int().min(0);
const position = text.describe('Position in the log that the row reflects');

export const taskLock = named(
  'TaskLock',
  z.looseObject({
    fence: z.int().min(1).describe('Send it with every edit; it grows by one with every ownership'),
    lock_id: text,
    holder: text,
    expires_at: time,
    expired: z.boolean().describe('As of the answer: an expired lock keeps nobody out'),
  }),
);
export const taskRow = named(
  'Task',
  z.looseObject({
    task_id: text,
    title: text,
    description: text,
    acceptance: text.describe('What counts as done'),
    status: z.enum(TASK_STATUSES),
    agent_id: text,
    model_id: text.nullable().describe("Null: the agent's model"),
    max_steps: z.int().min(1).max(25).describe('Loop steps of all its runs together'),
    steps_used: count,
    phase: z.enum(TASK_PHASES).nullable(),
    current_step: z.int().nullable(),
    round: z.int(),
    steps_done: count,
    steps_total: count,
    report: text.nullable(),
    latest_run_id: text.nullable().describe('Null also where the run was deleted'),
    column: text,
    rank: text.nullable().describe('Order within the column, compared by code units'),
    blocked_by: z.array(text),
    review_plan: z.boolean(),
    attention: z
      .enum(TASK_ATTENTIONS)
      .nullable()
      .describe('What the task waits for while nobody works on it'),
    attention_text: text.nullable(),
    reason: text.nullable().describe('Why it failed or was cancelled'),
    stopping: z.boolean(),
    user_id: z.uuid().nullable(),
    created_at: time,
    updated_at: time,
    total_tokens: count.describe('Sum over its runs'),
    lock: taskLock.nullable(),
    position,
  }),
);
export const taskList = pageOf('TaskPage', taskRow);
export const lockAnswer = named(
  'TaskLockAnswer',
  z.looseObject({ task_id: text, lock: taskLock.nullable(), position: text.optional() }),
);
export const claimAnswer = named(
  'TaskClaim',
  z.looseObject({ task_id: text.nullable().describe('Null: nothing is free'), lock: taskLock.nullable() }),
);
export const cardPlace = named(
  'CardPlace',
  z.looseObject({ task_id: text, column: text, rank: text, position }),
);
export const taskSteps = listOf(
  'TaskStepList',
  named(
    'TaskStep',
    z.looseObject({
      seq: z.int().min(1),
      title: text,
      detail: text,
      status: z.enum(TASK_STATUSES),
      result: text.nullable(),
      run_id: text.nullable(),
    }),
  ),
);
export const taskRuns = listOf(
  'TaskRunList',
  named(
    'TaskRun',
    z.looseObject({
      run_id: text.nullable(),
      phase: z.enum(TASK_PHASES),
      step: z.int().nullable(),
      round: z.int(),
      state: text,
      reason: text.nullable(),
      steps: count,
      total_tokens: count,
      requested_at: time,
      ended_at: time.nullable(),
    }),
  ),
);
export const taskActivity = pageOf(
  'TaskActivityPage',
  named(
    'TaskActivity',
    z.looseObject({
      at: time,
      type: text,
      task_id: text,
      title: text,
      actor: text,
      summary: text,
      position,
    }),
  ),
);
export const taskEventPage = named(
  'TaskEventPage',
  z.looseObject({
    data: z.array(
      named(
        'TaskEvent',
        z.looseObject({ task_id: text, type: text, time, position, actor: text, data: z.looseObject({}) }),
      ),
    ),
    next_cursor: text.nullable(),
    last_cursor: text.nullable(),
  }),
);

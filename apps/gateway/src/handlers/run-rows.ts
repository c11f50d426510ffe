import { RUN_STATES, TERMINATIONS, TRIGGERS } from '@runyard/contracts';
import { z } from 'zod';
import { named } from './rows';

// Shapes of answers about runs; open as those in rows.ts.

const time = z.iso.datetime({ offset: true });
const text = z.string();
const count = z.int().min(0);
const position = z.string().describe('Position in the log that the row reflects');

export const runRow = named(
  'Run',
  z.looseObject({
    run_id: text,
    agent_id: text,
    agent_version: z.int(),
    parent_run_id: text.nullable(),
    root_run_id: text,
    forked_from: text.nullable().optional(),
    forked_step: z.int().nullable().optional(),
    continues: text.nullable().optional(),
    retries: text.nullable().optional(),
    conversation_id: text.nullable(),
    user_id: z.uuid().nullable(),
    requested_by: text.nullable(),
    trigger: z.enum(TRIGGERS),
    state: z.enum(RUN_STATES),
    status: text.describe("The state in the dialog runner's words; every unfinished one is running"),
    termination: z.enum(TERMINATIONS).nullable(),
    reason: text.nullable(),
    created_at: time,
    started_at: time.nullable(),
    ended_at: time.nullable(),
    output: text.nullable(),
    steps: count,
    model_calls: count,
    tool_calls: count,
    position,
  }),
);
export const successorRow = named(
  'SuccessorRun',
  z.looseObject({
    run_id: text,
    source_run_id: text,
    state: z.enum(RUN_STATES).nullable().describe('null where intake has not answered yet'),
    reason: text.nullable(),
    position: text.nullable(),
    created: z.boolean().nullable().describe('false where the key or the question named this run before'),
  }),
);
export const startedRow = named(
  'StartedRun',
  z.looseObject({
    run_id: text,
    state: z
      .enum(RUN_STATES)
      .nullable()
      .describe('null where the request is stored, but intake has not answered yet'),
    reason: text.nullable(),
    position: text.nullable(),
    created: z.boolean().nullable().describe('false where the key named this run before'),
  }),
);
export const controlledRow = named(
  'ControlledRun',
  z.looseObject({
    run_id: text,
    state: z.enum(RUN_STATES),
    position,
    continuation: successorRow.optional().describe('The run that goes on where this one had ended'),
  }),
);
export const stepRow = named(
  'Step',
  z.looseObject({ seq: count, kind: z.enum(['model_turn', 'tool_call', 'approval']) }),
);
export const stepPage = named(
  'StepPage',
  z.looseObject({
    data: z.array(stepRow),
    next_after: z.int().nullable().describe('Pass it as after for the rest'),
  }),
);
export const inspectRow = named(
  'RunInspection',
  z.looseObject({
    run: runRow,
    tree: z.array(z.looseObject({ run_id: text })).describe('Runs that it delegated to, at any depth'),
    tree_truncated: z.boolean(),
    totals: z
      .looseObject({
        runs: count,
        input_tokens: count,
        output_tokens: count,
        cached_tokens: count,
        total_tokens: count,
        model_calls: count,
        tool_calls: count,
      })
      .describe('The run and all below it together'),
    steps: z.array(stepRow),
    next_after: z.int().nullable(),
  }),
);
const stoppedEffect = z.looseObject({
  kind: z.enum(['model_call', 'tool_call']),
  step: count,
  name: text.describe('Model or tool'),
  call_id: text.nullable(),
  outcome: z.enum(['completed', 'failed', 'cancelled', 'ambiguous', 'open']),
});
export const cancellationRow = named(
  'Cancellation',
  z.looseObject({
    run_id: text,
    requested_at: time.nullable().describe('null: nobody has asked the run to be cancelled'),
    requested_by: text.nullable(),
    reason: text.nullable(),
    quiet_at: time.nullable().describe('When the last of the tree ended; null as long as one has not'),
    confirmed: z.boolean(),
    unconfirmed: z.array(text).describe('Runs whose end is not in their log'),
    tokens_after_request: count,
    runs: z.array(
      z.looseObject({
        run_id: text,
        parent_run_id: text.nullable(),
        agent_id: text.nullable(),
        state: text,
        requested_at: time.nullable(),
        quiet_at: time.nullable(),
        confirmed: z.boolean(),
        stopped: z.array(stoppedEffect).describe('What was under way, and what became of it'),
        calls_not_sent: count,
        tokens_after_request: count,
        estimated_tokens_after_request: count,
      }),
    ),
    truncated: z.boolean(),
  }),
);
export const trajectoryRow = named(
  'Trajectory',
  z.looseObject({
    run_id: text,
    state: z.enum(RUN_STATES),
    complete: z.boolean(),
    position,
    entries: z.array(z.looseObject({ kind: text })),
    next_after: z.int().nullable(),
  }),
);
export const eventFrame = named(
  'RunEvent',
  z.object({ run_id: text, type: text, time, position: text, actor: text, data: z.unknown() }),
);
export const eventPage = named(
  'RunEventPage',
  z.object({
    data: z.array(eventFrame),
    next_cursor: text.nullable(),
    last_cursor: text.nullable(),
    ended: z.boolean(),
  }),
);

import { z } from 'zod';
import { TOKEN, withArticle } from '../token';
import { originSchema } from './origin';
import { BOUND_CEILINGS } from './run.definition';
import { MODES, TRIGGERS } from './run.states';

const id = (what: string) =>
  z
    .string()
    .regex(TOKEN, `must be ${withArticle(what)} of 1 to 80 characters out of A-Z, a-z, 0-9, "_" and "-"`);
const bound = (max: number) =>
  z.int('must be a whole number').min(1, 'must be at least 1').max(max, `must be at most ${max}`);

/** Bounds in a request tighten the agent's, never loosen them. */
export const boundsSchema = z.strictObject({
  max_steps: bound(BOUND_CEILINGS.maxSteps).optional(),
  max_tool_calls: bound(BOUND_CEILINGS.maxToolCalls).optional(),
  token_budget: bound(BOUND_CEILINGS.tokenBudget).optional(),
  deadline_seconds: bound(BOUND_CEILINGS.deadlineSeconds).optional(),
  max_depth: bound(BOUND_CEILINGS.maxDepth).optional(),
});
export type BoundsInput = z.infer<typeof boundsSchema>;

/** Largest input of a run, in characters. */
export const MAX_INPUT = 1_000_000;

/** What a client asks for when it starts a run (HTTP body of `POST /v1/runs`). */
export const startRunSchema = z.strictObject({
  agent_id: id('agent id'),
  input: z.string().min(1, 'must not be empty').max(MAX_INPUT, `must be at most ${MAX_INPUT} characters`),
  conversation_id: id('conversation id').optional(),
  bounds: boundsSchema.optional(),
  mode: z.enum(MODES).optional(),
});
export type StartRun = z.infer<typeof startRunSchema>;

/** What lies on the queue `REQUESTS`: the start, who asks, and the key that names the run for ever. */
export const runRequestSchema = startRunSchema.extend({
  key: z.string().min(1, 'must not be empty').max(255, 'must be at most 255 characters'),
  trigger: z.enum(TRIGGERS).default('requested'),
  /** A row of the allowed list instead of the agent's; its fallbacks go with it. */
  model_id: id('model id').optional(),
  /** The run that it begins with. */
  origin: originSchema.optional(),
  /** Actor: `user:<id>`, `service:<id>` or `system:<part>`. */
  requested_by: z
    .string()
    .regex(/^(user|service|system):[A-Za-z0-9_-]{1,80}$/, 'must be user:<id>, service:<id> or system:<part>'),
  /** Of a delegated run: the call that it is. Only the executor asks for such runs; its own log must bear the call out. */
  parent: z
    .strictObject({ run_id: id('run id'), call_id: id('call id'), attempt: z.int().min(1) })
    .optional(),
});
export type RunRequest = z.infer<typeof runRequestSchema>;

/** Who alone asks for delegated runs. */
export const DELEGATOR = 'system:run-executor';
/** Keys of delegated runs begin so, and no others. */
export const CHILD_KEY_PREFIX = 'runyard.child:';
/** Key of the run that a call is: derived, so that asking again after a crash names the same run. */
export const childKey = (runId: string, callId: string, attempt: number): string =>
  `${CHILD_KEY_PREFIX}${runId}:${callId}:${attempt}`;

/** Headers of a request message. */
export const REPLY_HEADER = 'Runyard-Reply';
/** W3C trace context of whoever asks; the run's spans join that trace. */
export const TRACE_HEADER = 'traceparent';

/** What intake answers to the reply subject of a request. */
export type IntakeAnswer =
  | { ok: true; run_id: string; state: string; reason: string | null; position: string; created: boolean }
  | { ok: false; code: string; message: string; facts?: Record<string, unknown> };

export const extendSchema = z
  .strictObject({
    steps: bound(BOUND_CEILINGS.maxSteps).optional(),
    tool_calls: bound(BOUND_CEILINGS.maxToolCalls).optional(),
    tokens: bound(BOUND_CEILINGS.tokenBudget).optional(),
    seconds: bound(BOUND_CEILINGS.deadlineSeconds).optional(),
  })
  .refine(
    (e) => Object.values(e).some((v) => v !== undefined),
    'must raise at least one of steps, tool_calls, tokens and seconds',
  );
export const modeSchema = z.strictObject({ mode: z.enum(MODES) });

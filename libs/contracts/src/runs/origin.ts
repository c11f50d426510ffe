import { z } from 'zod';
import type { StoredText } from '../envelope';
import { TOKEN, withArticle } from '../token';
import { BOUND_CEILINGS } from './run.definition';
import type { CallDecision } from './call.events';

// Runs that begin with what another one has recorded: forks, continuations, retries.

export const ORIGIN_KINDS = ['fork', 'continuation', 'retry'] as const;
/** `fork` goes on from a step with something changed, `continuation` where a run had to stop, `retry` begins again. */
export type OriginKind = (typeof ORIGIN_KINDS)[number];

const id = (what: string) => z.string().regex(TOKEN, `must be ${withArticle(what)}`);
const raise = (max: number) =>
  z.int('must be a whole number').min(1, 'must be at least 1').max(max, `must be at most ${max}`).optional();
const prompt = z.string().max(200_000, 'must be at most 200000 characters');

/** What may be changed where a run is forked. */
export const forkSchema = z.strictObject({
  /** Completed steps that are taken over; 0: none but the input. Left out: all of them. */
  step: z.int('must be a whole number').min(0, 'must be at least 0').optional(),
  /** Replaces the owner's layer of the system prompt. */
  prompt: prompt.optional(),
  /** A row of the allowed list. */
  model_id: id('model id').optional(),
  /** Names of tools, instead of those of the source. */
  tools: z.array(id('name of a tool')).max(200, 'must be at most 200 tools').optional(),
  /** From step 0: instead of the source's input. Later: said after the steps that are taken over. */
  input: z
    .string()
    .min(1, 'must not be empty')
    .max(1_000_000, 'must be at most 1000000 characters')
    .optional(),
  /** True: what the source has written after the fork's step is written again; else its recorded results are used. */
  repeat_writes: z.boolean('must be true or false').optional(),
});
export type ForkChanges = z.infer<typeof forkSchema>;

/** A decision with which a run goes on that ended because nobody had decided. */
export const continuedDecisionSchema = z.strictObject({
  approval_id: id('approval id'),
  verdict: z.enum(['approve', 'deny', 'done', 'repeat', 'fail']),
  /** Instead of the arguments that were asked about. */
  arguments: z.record(z.string(), z.json()).optional(),
  /** What the model is told: why it was denied, or the result of what was done. */
  message: z.string().max(20_000, 'must be at most 20000 characters').optional(),
});
export type ContinuedDecision = z.infer<typeof continuedDecisionSchema>;

export const extensionSchema = z.strictObject({
  steps: raise(BOUND_CEILINGS.maxSteps),
  tool_calls: raise(BOUND_CEILINGS.maxToolCalls),
  tokens: raise(BOUND_CEILINGS.tokenBudget),
  seconds: raise(BOUND_CEILINGS.deadlineSeconds),
});
export type Extension = z.infer<typeof extensionSchema>;

/** The part of a run request that names the run it begins with. */
export const originSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('fork'),
    run_id: id('run id'),
    ...forkSchema.omit({ input: true }).shape,
    says_input: z.boolean(),
  }),
  z.strictObject({
    kind: z.literal('continuation'),
    run_id: id('run id'),
    extend: extensionSchema.optional(),
    decision: continuedDecisionSchema.optional(),
  }),
  z.strictObject({ kind: z.literal('retry'), run_id: id('run id') }),
]);
export type OriginRequest = z.infer<typeof originSchema>;

/** Where a run comes from, for its log and rows. */
export interface RunOrigin {
  kind: OriginKind;
  runId: string;
  /** Completed steps that were taken over. */
  step: number;
}

/** A call of a turn that the source had not finished: it is decided about anew, or under the decision it comes with. */
export interface OpenCall {
  callId: string;
  tool: string;
  arguments: StoredText;
  /** What the model sees of it; null: it is still to be made. */
  observation: StoredText | null;
  outcome: 'succeeded' | 'failed' | 'denied' | 'cancelled' | null;
  /** A person's answer that it goes out under. */
  grant: {
    approvalId: string;
    argumentsDigest: string;
    decision: CallDecision;
    policyVersion: number;
    expiresAt: number;
    edited: boolean;
  } | null;
}

/** What a run takes over from its source, so that nothing of it is bought or done again. */
export interface TakenOver {
  /** The dialog as JSON text. */
  dialog: StoredText;
  /** False: the run's input is said after the dialog. */
  saidBefore: boolean;
  open: OpenCall[];
  /** Writes of the source after the step that was taken over, as JSON text; their results stand for equal calls. Null: none. */
  writes: StoredText | null;
}

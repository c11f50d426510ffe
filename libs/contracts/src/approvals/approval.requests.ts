import { z } from 'zod';
import { agentSlug, pageSchema, positionSchema, rowId } from '../agents/agent.requests';
import type { StoredText } from '../envelope';
import type { Json } from '../json';
import type { ApprovalKind, ApprovalVerdict } from './approval.events';
import { addRuleSchema } from './permission.requests';

const approvalId = z.string().regex(/^apr_[0-9a-z]{26}$/, 'must be the id of an approval');
const verdicts = ['approve', 'deny', 'done', 'repeat', 'fail'] as const;

/** States of an approval, in a reader's words. `answered`: one about an ambiguous call. */
export const APPROVAL_STATES = ['pending', 'approved', 'denied', 'answered', 'expired', 'withdrawn'] as const;
export type ApprovalState = (typeof APPROVAL_STATES)[number];

/** Longest message to the model, and longest result that a reviewer reports, in characters. */
export const MAX_MESSAGE = 10_000;
/** Largest edited arguments, as JSON text, in characters. */
export const MAX_EDITED = 200_000;

/** The rule that an approval may leave behind; what it does not say is taken from the call: its agent and its tool. */
const keptRuleSchema = z.strictObject({
  scope: addRuleSchema.shape.scope.optional(),
  conditions: addRuleSchema.shape.conditions,
  expires_at: addRuleSchema.shape.expires_at,
  note: addRuleSchema.shape.note,
});
export type KeptRuleInput = z.infer<typeof keptRuleSchema>;

/** `approvals.decide`. Who decides is never part of it: that is the credential's. */
export const decideApprovalSchema = z.strictObject({
  approval_id: approvalId,
  /** `approve` and `deny` answer a call; `done`, `repeat` and `fail` one of which nobody knows whether it happened. */
  verdict: z.enum(verdicts, `must be one of ${verdicts.join(', ')}`),
  /** With `approve`: these instead of the proposed arguments; checked against the tool's schema. */
  arguments: z.json().optional(),
  /** What the model is told; with `done` the call's result. */
  message: z
    .string()
    .min(1, 'must not be empty')
    .max(MAX_MESSAGE, `must be at most ${MAX_MESSAGE} characters`)
    .optional(),
  /** With `approve`: every call of this run in the same group. */
  whole_group: z.boolean('must be true or false').default(false),
  /** With `approve`: allow such calls from now on. */
  rule: keptRuleSchema.optional(),
});
export type DecideApproval = z.infer<typeof decideApprovalSchema>;

/** `approvals.get`. */
export const approvalRefSchema = z.strictObject({
  approval_id: approvalId,
  at_least: positionSchema.optional(),
});
/** `approvals.list`: pending ones by what they hold up and how long; all others newest first. */
export const listApprovalsSchema = z.strictObject({
  ...pageSchema,
  state: z.enum(APPROVAL_STATES, `must be one of ${APPROVAL_STATES.join(', ')}`).default('pending'),
  run_id: rowId('run id').optional(),
  agent_id: agentSlug.optional(),
  group_key: z.string().max(300).optional(),
});

/** An approval as `approvals.list` answers it. Times are RFC 3339. */
export interface ApprovalRow {
  approval_id: string;
  kind: ApprovalKind;
  state: ApprovalState;
  run_id: string;
  agent_id: string;
  agent_version: number;
  owner_id: string;
  step: number;
  call_id: string;
  tool: string;
  /** What the tool would be sent. */
  arguments: StoredText;
  arguments_digest: string;
  rule_id: string | null;
  group_key: string | null;
  policy_version: number;
  opened_at: string;
  expires_at: string;
  /** Pending, and the last open question of its run: answering it sets the run going. */
  blocking: boolean;
  decided_at: string | null;
  /** Actor; `system:approvals` for an expiry, which is no denial. */
  decided_by: string | null;
  verdict: ApprovalVerdict | null;
  edited_arguments: StoredText | null;
  message: StoredText | null;
  whole_group: boolean;
  made_rule_id: string | null;
  withdrawn_because: string | null;
  position: string;
}

/** One difference between proposed and edited arguments; a member that is missing on a side has no value there. */
export interface ArgumentChange {
  pointer: string;
  proposed?: Json;
  edited?: Json;
}

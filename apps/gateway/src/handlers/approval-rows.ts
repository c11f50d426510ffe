import { APPROVAL_STATES, MODES } from '@runyard/contracts';
import { z } from 'zod';
import { named } from './rows';

// Shapes of answers about approvals and permission rules, for the API description. Open, as in rows.ts.

const time = z.iso.datetime({ offset: true });
const text = z.string();
const count = z.int().min(0);
const decision = z.enum(['allow', 'deny', 'ask']);
/** A text that may be large: whole, or its beginning with the size of the whole. */
const storedText = z.looseObject({});
const verdict = z.enum(['approve', 'deny', 'done', 'repeat', 'fail']);

const approval = {
  approval_id: text,
  kind: z
    .enum(['call', 'ambiguous'])
    .describe('ambiguous: the call went out and nobody knows what became of it'),
  state: z.enum(APPROVAL_STATES),
  run_id: text,
  agent_id: text,
  agent_version: z.int().min(1),
  owner_id: z.uuid(),
  step: count,
  call_id: text,
  tool: text,
  arguments: storedText.describe('What the tool would be sent, as the model wrote it'),
  arguments_digest: text.describe('SHA-256 of the canonical arguments; a grant holds for these alone'),
  rule_id: text.nullable().describe('The rule that asked; null: the mode of the run did'),
  group_key: text.nullable(),
  opened_at: time,
  expires_at: time,
  blocking: z.boolean().describe('The last open question of its run: answering it sets the run going'),
  decided_at: time.nullable(),
  decided_by: text.nullable().describe('Who decided; system:approvals for an expiry, which is no denial'),
  verdict: verdict.nullable(),
  edited_arguments: storedText.nullable(),
  message: storedText.nullable(),
  whole_group: z.boolean(),
  made_rule_id: text.nullable(),
};
export const approvalRow = named('Approval', z.looseObject(approval));
export const approvalContext = named(
  'ApprovalInContext',
  z.looseObject({
    ...approval,
    changes: z
      .array(z.looseObject({ pointer: text }))
      .nullable()
      .describe('What a reviewer changed in the arguments, place by place'),
    run: z.looseObject({}).nullable().describe('Null while the executor does not answer'),
    last_steps: z.array(z.looseObject({})),
    rule: z.looseObject({}).nullable(),
    tool_definition: z
      .looseObject({ name: text, effect: z.enum(['read', 'write']), input_schema: z.looseObject({}) })
      .nullable(),
  }),
);
export const decisionRow = named(
  'ApprovalDecision',
  z.looseObject({
    approval_id: text,
    run_id: text,
    call_id: text,
    verdict,
    decided_by: text,
    decided_at: time,
    arguments_digest: text,
    edited: z.boolean(),
    whole_group: z.boolean(),
    made_rule_id: text.nullable(),
    position: text,
  }),
);
export const ruleRow = named(
  'PermissionRule',
  z.looseObject({
    rule_id: text,
    scope: z.looseObject({ kind: z.enum(['org', 'owner', 'agent']) }),
    tool: text,
    conditions: z.array(z.looseObject({ at: text, is: text })),
    decision,
    group_key: text.nullable(),
    expires_at: time.nullable(),
    note: text.nullable(),
    approval_id: text.nullable().describe('The approval that the rule was made of'),
    author: text,
    created_at: time,
    position: text,
  }),
);
export const evaluationRow = named(
  'Evaluation',
  z.looseObject({
    decision,
    decided_by: text,
    rule_id: text.nullable(),
    group_key: text.nullable(),
    policy_version: count,
    mode: z.enum(MODES),
    effect: z.enum(['read', 'write']),
    reason: text,
    considered: z.array(
      z.looseObject({
        rule_id: text,
        result: z.enum(['won', 'outranked', 'not_matched']),
        says: decision.nullable(),
        why: text,
      }),
    ),
  }),
);

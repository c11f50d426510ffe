import { z } from 'zod';
import { agentSlug, pageSchema, positionSchema } from '../agents/agent.requests';
import { MODES } from '../runs/run.states';
import { timeSchema } from '../storable';
import type { ConsideredRule } from './call-decision';
import type { ArgumentCondition, RuleDecision } from './permission.events';

const filled = (max: number) =>
  z
    .string()
    .max(max, `must be at most ${max} characters`)
    .refine((value) => value.trim() !== '', 'must not be empty');
const ownerId = z.uuid('must be the id of a user');
const few = <T extends z.ZodType>(item: T, what: string, max = 100) =>
  z.array(item).min(1, `must name at least one ${what}`).max(max, `must name at most ${max}`);

/** Where in the arguments: a JSON Pointer (RFC 6901). */
const pointer = z
  .string()
  .max(500, 'must be at most 500 characters')
  .regex(/^(\/([^~]|~[01])*)*$/, 'must be a JSON Pointer such as /path');
const at = { at: pointer };
const number = z.number('must be a number');
const toolName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be a tool name');

export const conditionSchema = z.discriminatedUnion(
  'is',
  [
    z.strictObject({ ...at, is: z.enum(['present', 'absent']) }),
    z.strictObject({ ...at, is: z.literal('equals'), value: z.json() }),
    z.strictObject({ ...at, is: z.literal('one_of'), values: few(z.json(), 'value') }),
    z.strictObject({ ...at, is: z.literal('like'), pattern: filled(1_000) }),
    z.strictObject({ ...at, is: z.enum(['at_least', 'at_most']), value: number }),
    z.strictObject({ ...at, is: z.literal('command'), patterns: few(filled(500), 'pattern') }),
    z.strictObject({ ...at, is: z.literal('path_within'), directories: few(filled(1_000), 'directory') }),
    z.strictObject({
      ...at,
      is: z.literal('url'),
      hosts: few(filled(255), 'host'),
      schemes: few(
        z.string().regex(/^[a-z][a-z0-9+.-]{0,19}$/, 'must be a scheme such as https'),
        'scheme',
      ).optional(),
      ports: few(z.int().min(1).max(65_535), 'port').optional(),
      path: z
        .string()
        .regex(/^\/[^?#\s]{0,500}$/, 'must begin with "/" and hold no query')
        .optional(),
    }),
  ],
  'must be one of present, absent, equals, one_of, like, at_least, at_most, command, path_within and url',
) satisfies z.ZodType<ArgumentCondition>;

const scopeSchema = z.discriminatedUnion(
  'kind',
  [
    z.strictObject({ kind: z.literal('org') }),
    z.strictObject({ kind: z.literal('owner'), owner_id: ownerId }),
    z.strictObject({ kind: z.literal('agent'), agent_id: agentSlug }),
  ],
  'must be of kind org, owner or agent',
);
const decision = z.enum(['allow', 'deny', 'ask'], 'must be allow, deny or ask');
const time = timeSchema();

/** `permissions.add`. */
export const addRuleSchema = z.strictObject({
  scope: scopeSchema,
  tool: z.string().regex(/^[A-Za-z0-9_*-]{1,64}$/, 'must be a tool name, in which "*" stands for anything'),
  conditions: z.array(conditionSchema).max(20, 'must be at most 20 conditions').default([]),
  decision,
  group_key: filled(200).nullable().default(null),
  expires_at: time.nullable().default(null),
  note: filled(500).nullable().default(null),
});
export type AddRuleInput = z.infer<typeof addRuleSchema>;

export const ruleIdSchema = z.string().regex(/^rul_[0-9a-z]{26}$/, 'must be the id of a rule');
/** `permissions.remove`, `permissions.get`. */
export const ruleRefSchema = z.strictObject({ rule_id: ruleIdSchema, at_least: positionSchema.optional() });
/** `permissions.list`, newest first. */
export const listRulesSchema = z.strictObject({
  ...pageSchema,
  agent_id: agentSlug.optional(),
  owner_id: ownerId.optional(),
  /** Rules whose pattern matches this tool. */
  tool: z
    .string()
    .max(64)
    .refine((text) => !text.includes('\0'), 'must be a tool name')
    .optional(),
  decision: decision.optional(),
});
/** `permissions.evaluate`: what would decide this call, and why. Nothing is recorded. */
export const evaluateCallSchema = z.strictObject({
  agent_id: agentSlug,
  tool: toolName,
  arguments: z.json().default({}),
  /** Left out: the agent's. */
  mode: z.enum(MODES, `must be one of ${MODES.join(', ')}`).optional(),
  /** Left out: the catalogue's; needed for a tool that the catalogue does not have. */
  effect: z.enum(['read', 'write'], 'must be read or write').optional(),
});

/** A rule as `permissions.list` answers it. Times are RFC 3339. */
export interface RuleRow {
  rule_id: string;
  scope: z.infer<typeof scopeSchema>;
  tool: string;
  conditions: ArgumentCondition[];
  decision: RuleDecision;
  group_key: string | null;
  expires_at: string | null;
  note: string | null;
  approval_id: string | null;
  author: string;
  created_at: string;
  position: string;
}

/** What `permissions.evaluate` answers. */
export interface EvaluationRow {
  decision: RuleDecision;
  decided_by: string;
  rule_id: string | null;
  group_key: string | null;
  policy_version: number;
  mode: string;
  effect: 'read' | 'write';
  reason: string;
  considered: { rule_id: string; result: ConsideredRule['result']; says: RuleDecision | null; why: string }[];
}

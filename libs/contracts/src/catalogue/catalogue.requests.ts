import { z } from 'zod';
import { positionSchema, rowId, toolNameSchema } from '../agents/agent.requests';
import { timeSchema } from '../storable';
import { agentSourceSchema } from './tool-source';

const text = (max: number) => z.string().max(max, `must be at most ${max} characters`);
const filled = (max: number) => text(max).refine((value) => value.trim() !== '', 'must not be empty');
const tokens = (what: string) =>
  z.int('must be a whole number').min(1, `must be at least 1 token of ${what}`).max(100_000_000);
const flag = z.boolean('must be true or false');

/** Names of secrets, never their values (domain, section 4). */
const credential = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_.-]{0,79}$/, 'must be the name of a secret, never its value');
const recording = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/,
    'must be the name of a file in the recordings folder, without path',
  );

const SECRET_NAME = /authorization|cookie|token|secret|passw|api[-_]?key|credential/i;
const noSecretNames = (names: Record<string, string>) =>
  !Object.keys(names).some((name) => SECRET_NAME.test(name));
const NO_SECRETS = 'must not carry secrets; name a secret in "credential" instead';
const headers = z
  .record(z.string().regex(/^[A-Za-z0-9-]{1,80}$/, 'must be a header name'), text(1_000))
  .refine(noSecretNames, NO_SECRETS);

/** An http or https URL without credentials in it. Braces may hold an argument's name. */
const webUrl = text(2_000).refine(
  (value) => isWebUrl(value),
  'must be an http or https URL without a user or password in it',
);

function isWebUrl(value: string): boolean {
  const match = /^https?:\/\/([^/?#\s]+)(\S*)$/.exec(value);
  return match !== null && !match[1]?.includes('@') && !/[\\{}]/.test(match[1] ?? '');
}

const providerSchema = z.discriminatedUnion(
  'kind',
  [
    z.strictObject({
      kind: z.literal('openai-compatible'),
      base_url: webUrl,
      credential: credential.optional(),
      headers: headers.optional(),
    }),
    z.strictObject({ kind: z.literal('anthropic'), base_url: webUrl.optional(), credential }),
    z.strictObject({ kind: z.literal('recorded'), recording }),
  ],
  'must be of kind openai-compatible, anthropic or recorded',
);

/** A price per million tokens: a decimal string, since money is never a float. */
const price = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,9})?$/, 'must be a decimal number as a string, such as "2.50"');
const pricesSchema = z.strictObject({
  currency: z.string().regex(/^[A-Z]{3}$/, 'must be an ISO 4217 currency code'),
  input: price,
  output: price,
  cached: price,
  valid_from: timeSchema(),
});

const modelFields = {
  label: filled(200),
  tier: z.string().regex(/^[a-z][a-z0-9_-]{0,39}$/, 'must be a tier such as fast, balanced or deep'),
  provider: providerSchema,
  model: filled(200),
  context_window: tokens('context'),
  max_output_tokens: tokens('output'),
  prices: z.array(pricesSchema).max(100),
  fallbacks: z.array(rowId('model id')).max(10, 'must be at most 10 models'),
};

/** `models.allow`. The first row of a list becomes its default. */
export const allowModelSchema = z.strictObject({
  model_id: rowId('model id'),
  ...modelFields,
  max_output_tokens: modelFields.max_output_tokens.default(4_096),
  prices: modelFields.prices.default([]),
  fallbacks: modelFields.fallbacks.default([]),
  is_default: flag.default(false),
});
export type AllowModelInput = z.infer<typeof allowModelSchema>;
/** `models.update`: the fields that change. */
export const updateModelSchema = z.strictObject({
  model_id: rowId('model id'),
  ...z.strictObject(modelFields).partial().shape,
});
export type UpdateModelInput = z.infer<typeof updateModelSchema>;
/** `models.remove`, `models.set_default`. */
export const modelRefSchema = z.strictObject({ model_id: rowId('model id') });
/** `models.list`, `tools.list`, `platform_prompt.get`. */
export const catalogueListSchema = z.strictObject({ at_least: positionSchema.optional() });

const serverName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be a server name of 1 to 64 characters');
const mcpServerSchema = z.discriminatedUnion(
  'transport',
  [
    z.strictObject({
      name: serverName,
      transport: z.literal('stdio'),
      command: filled(500),
      args: z.array(text(2_000)).max(64).default([]),
      env: z
        .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), text(4_000))
        .refine(noSecretNames, NO_SECRETS)
        .optional(),
    }),
    z.strictObject({
      name: serverName,
      transport: z.literal('http'),
      url: webUrl,
      credential: credential.optional(),
    }),
  ],
  'must be of transport stdio or http',
);

/** Where a tool's answers come from. */
export const toolSourceSchema = z.discriminatedUnion(
  'kind',
  [
    z.strictObject({ kind: z.literal('builtin'), name: filled(80) }),
    z.strictObject({
      kind: z.literal('http'),
      method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], 'must be GET, POST, PUT, PATCH or DELETE'),
      url: webUrl,
      headers: headers.optional(),
      credential: credential.optional(),
    }),
    z.strictObject({ kind: z.literal('mcp'), server: mcpServerSchema, tool: filled(200) }),
    agentSourceSchema,
    z.strictObject({ kind: z.literal('recorded'), recording }),
  ],
  'must be of kind builtin, http, mcp, agent or recorded',
);

const toolFields = {
  description: filled(4_000),
  /** JSON Schema of the arguments, of type object. */
  input_schema: z
    .record(z.string(), z.json())
    .refine((schema) => schema.type === 'object', 'must be a JSON Schema of type object')
    .refine((schema) => JSON.stringify(schema).length <= 32_768, 'must be at most 32 KiB of JSON'),
  effect: z.enum(['read', 'write'], 'must be read or write'),
  idempotent: flag,
  source: toolSourceSchema,
  timeout_ms: z
    .int('must be a whole number')
    .min(100, 'must be at least 100')
    .max(3_600_000, 'must be at most 3600000'),
  ends_run: flag,
  agents_allowed: flag,
};

/** `tools.register`. */
export const registerToolSchema = z.strictObject({
  name: toolNameSchema,
  ...toolFields,
  idempotent: toolFields.idempotent.default(false),
  timeout_ms: toolFields.timeout_ms.default(30_000),
  ends_run: toolFields.ends_run.default(false),
  agents_allowed: toolFields.agents_allowed.default(true),
});
export type RegisterToolInput = z.infer<typeof registerToolSchema>;
/** `tools.update`: the fields that change. */
export const updateToolSchema = z.strictObject({
  name: toolNameSchema,
  ...z.strictObject(toolFields).partial().shape,
});
export type UpdateToolInput = z.infer<typeof updateToolSchema>;
/** `tools.remove`. */
export const toolRefSchema = z.strictObject({ name: toolNameSchema });
/** `platform_prompt.set`; empty: none. */
export const platformPromptSchema = z.strictObject({ prompt: text(40_000) });

/** A row of the allowed list as `models.list` answers it. */
export interface ModelRow {
  model_id: string;
  label: string;
  tier: string;
  provider: z.infer<typeof providerSchema>;
  model: string;
  context_window: number;
  max_output_tokens: number;
  prices: z.infer<typeof pricesSchema>[];
  fallbacks: string[];
  is_default: boolean;
}

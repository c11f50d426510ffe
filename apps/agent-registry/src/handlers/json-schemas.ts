import { Ajv } from 'ajv';
import { Problem } from '@runyard/contracts';

const ajv = new Ajv({ strict: false, allErrors: true, logger: false });

/** Refuses what is no JSON Schema: a run would find out only when a model calls the tool. */
export function requireJsonSchema(schema: Record<string, unknown>): void {
  // Which draft it claims does not matter here: what the drafts share is what models and executors understand.
  const { $schema: _draft, ...body } = schema;
  if (ajv.validateSchema(body)) return;
  const errors = (ajv.errors ?? []).map(({ instancePath, message }) => ({
    pointer: `/input_schema${instancePath}`,
    detail: message ?? 'is not valid in a JSON Schema',
  }));
  throw new Problem(
    'invalid_request',
    `The input schema is not a JSON Schema: ${errors[0]?.pointer} ${errors[0]?.detail}`,
    { errors },
  );
}

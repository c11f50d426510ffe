import { z } from 'zod';
import type { JsonSchema } from './json-schema';

/** What a schema lets in, as JSON Schema of the draft that AsyncAPI speaks. */
export function inputSchema(schema: z.ZodType): JsonSchema {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, { io: 'input', target: 'draft-7' });
  return json as JsonSchema;
}

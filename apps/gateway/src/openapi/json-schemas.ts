import { z } from 'zod';

export type JsonSchema = Record<string, unknown>;

/** Collects named schemas for `components.schemas` while it turns zod schemas into JSON Schema. */
export class JsonSchemas {
  readonly components: Record<string, JsonSchema> = {};

  /** A schema, or a reference to it where it is named (`meta({ id })`). `prefix` keeps helper definitions apart. */
  of(schema: z.ZodType, io: 'input' | 'output', prefix: string): JsonSchema {
    const {
      $schema: _dialect,
      $defs = {},
      id: _id,
      ...json
    } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
    const rename = (name: string): string => (name.startsWith('__') ? `${prefix}.${name.slice(2)}` : name);
    for (const [name, definition] of Object.entries($defs)) {
      const { id: _own, ...body } = definition as JsonSchema;
      this.components[rename(name)] = withReferences(body, rename);
    }
    const body = withReferences(json, rename);
    const name = schema.meta()?.id;
    // zod writes a named schema as a reference into its definitions, which are hoisted above.
    if (name === undefined || '$ref' in body) return body;
    this.components[name] = body;
    return { $ref: `#/components/schemas/${name}` };
  }
}

/** References as zod writes them (`#/$defs/X`), pointing to where OpenAPI keeps schemas. */
function withReferences(value: JsonSchema, rename: (name: string) => string): JsonSchema {
  const walk = (at: unknown): unknown => {
    if (Array.isArray(at)) return at.map(walk);
    if (typeof at !== 'object' || at === null) return at;
    return Object.fromEntries(
      Object.entries(at).map(([key, member]) => {
        if (key !== '$ref' || typeof member !== 'string') return [key, walk(member)];
        return [key, `#/components/schemas/${rename(member.replace('#/$defs/', ''))}`];
      }),
    );
  };
  return walk(value) as JsonSchema;
}

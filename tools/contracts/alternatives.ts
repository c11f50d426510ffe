import type { JsonSchema } from './json-schema';

/** A document in which references are looked up. */
export type SchemaDocument = Record<string, unknown>;

/** One of the simple schemas that a schema is the union of. */
export interface Alternative {
  /** JSON type; `any` where the schema does not say. */
  type: string;
  schema: JsonSchema;
  /** Name of the definition that it came from. */
  name?: string;
}

/** Follows a local reference; undefined where nothing is there. */
export function lookUp(document: SchemaDocument, reference: string): unknown {
  let at: unknown = document;
  for (const part of reference.replace(/^#\//, '').split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    at = typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[key] : undefined;
  }
  return at;
}

/** A schema as the union of simple ones: references followed, `anyOf` and lists of types taken apart, `allOf` merged. */
export function alternativesOf(
  schema: JsonSchema,
  document: SchemaDocument,
  name?: string,
  seen: readonly string[] = [],
): Alternative[] {
  if (schema.$ref !== undefined) {
    if (seen.includes(schema.$ref)) return [];
    const target = (lookUp(document, schema.$ref) ?? {}) as JsonSchema;
    const label = schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1);
    return alternativesOf(target, document, label, [...seen, schema.$ref]);
  }
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.flatMap((choice) => alternativesOf(choice, document, name, seen));
  if (schema.allOf) return [merged(schema, document, name, seen)];
  return typesOf(schema).map((type) => ({ type, schema, ...(name === undefined ? {} : { name }) }));
}

function merged(
  schema: JsonSchema,
  document: SchemaDocument,
  name: string | undefined,
  seen: readonly string[],
): Alternative {
  const parts = (schema.allOf ?? []).flatMap((part) => alternativesOf(part, document, name, seen));
  const whole: JsonSchema = {
    type: parts[0]?.type ?? 'any',
    properties: Object.assign({}, ...parts.map((part) => part.schema.properties ?? {})),
    required: [...new Set(parts.flatMap((part) => part.schema.required ?? []))],
  };
  return { type: String(whole.type), schema: whole, ...(name === undefined ? {} : { name }) };
}

function typesOf(schema: JsonSchema): string[] {
  if (Array.isArray(schema.type)) return schema.type;
  if (schema.type !== undefined) return [schema.type];
  const values = valuesOf(schema);
  if (values) return [...new Set(values.map(typeOf))];
  if (schema.properties) return ['object'];
  return [schema.items ? 'array' : 'any'];
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** The values that a schema allows where it lists them. */
export function valuesOf(schema: JsonSchema): unknown[] | undefined {
  if ('const' in schema) return [schema.const];
  return schema.enum;
}

import type { JsonSchema } from './json-schemas';

/** A schema as a TypeScript type. What may have further members is written without them: a client relies on what is named. */
export function typeText(schema: JsonSchema, indent: string): string {
  if (typeof schema.$ref === 'string') return typeName(schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1));
  if ('const' in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return union(schema.enum.map((value) => JSON.stringify(value)));
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices)) return union((choices as JsonSchema[]).map((one) => typeText(one, indent)));
  if (Array.isArray(schema.allOf))
    return (schema.allOf as JsonSchema[]).map((one) => `(${typeText(one, indent)})`).join(' & ');
  if (Array.isArray(schema.type))
    return union(schema.type.map((type) => typeText({ ...schema, type: String(type) }, indent)));
  return plainText(schema, indent);
}

/** `agents.create.schema0` → `AgentsCreateSchema0`. */
export const typeName = (name: string): string =>
  name
    .split('.')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

const union = (types: string[]): string => [...new Set(types)].join(' | ');

const PLAIN: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
};

function plainText(schema: JsonSchema, indent: string): string {
  if (schema.type === 'array') return `(${typeText((schema.items ?? {}) as JsonSchema, indent)})[]`;
  if (schema.type === 'object') return objectText(schema, indent);
  return PLAIN[String(schema.type)] ?? 'unknown';
}

function objectText(schema: JsonSchema, indent: string): string {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);
  const required = new Set((schema.required ?? []) as string[]);
  const more = schema.additionalProperties;
  if (properties.length === 0) {
    const values =
      typeof more === 'object' && more !== null ? typeText(more as JsonSchema, indent) : 'unknown';
    return `{ [name: string]: ${values} }`;
  }
  const inner = `${indent}  `;
  const members = properties.map(([name, member]) => {
    const said = typeof member.description === 'string' ? `${inner}/** ${member.description} */\n` : '';
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
    return `${said}${inner}${key}${required.has(name) ? '' : '?'}: ${typeText(member, inner)};`;
  });
  return `{\n${members.join('\n')}\n${indent}}`;
}

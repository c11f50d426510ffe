import type { JsonSchema } from './json-schema';

/** A schema in the words of TypeScript, on one line. */
export function typeText(schema: JsonSchema): string {
  if (schema.$ref !== undefined) return schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1);
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives) return alternatives.map(typeText).join(' | ');
  if (schema.allOf) return schema.allOf.map(typeText).join(' & ');
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeText({ ...schema, type })).join(' | ');
  if (schema.type === 'array') return arrayText(typeText(schema.items ?? {}));
  if (schema.type === 'object') return objectText(schema);
  return schema.type ?? 'any JSON';
}

const arrayText = (item: string): string =>
  /[ |&]/.test(item) && !/^\{[^{}]*\}$/.test(item) ? `(${item})[]` : `${item}[]`;

function objectText({ properties = {}, required = [], additionalProperties }: JsonSchema): string {
  const members = Object.entries(properties).map(
    ([name, member]) => `${name}${required.includes(name) ? '' : '?'}: ${typeText(member)}`,
  );
  if (members.length > 0) return `{ ${members.join('; ')} }`;
  return typeof additionalProperties === 'object' ? `{ [key]: ${typeText(additionalProperties)} }` : '{}';
}

import { currentVersion, eventType } from '@runyard/contracts';
import { lookUp } from './alternatives';
import type { SchemaDocument } from './alternatives';
import type { JsonSchema } from './json-schema';

/** Stored data by event type with version: one sample with every member, one with those that must be there. */
export type GoldenEvents = Record<string, unknown[]>;

/** How much of a schema a sample shows: all members and first alternatives, or the least and the last ones. */
type Extent = 'full' | 'least';

/**
 * The golden corpus with samples for the types that it lacks. What is in it stays as it was first written: it stands for events
 * that lie on disk, and every later version of the code must still read them.
 */
export function withNewSamples(
  kept: GoldenEvents,
  names: readonly string[],
  document: SchemaDocument,
): GoldenEvents {
  const added = names
    .map((name): [string, string] => [eventType(name, currentVersion(name)), name])
    .filter(([type]) => !(type in kept))
    .map(([type, name]): [string, unknown[]] => {
      const data = dataSchema(document, name);
      return [type, [sampleOf(data, document, 'full', 0), sampleOf(data, document, 'least', 0)]];
    });
  return Object.fromEntries([...Object.entries(kept), ...added].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Where the schema of an event's data stands in the description of the bus. */
export const dataPointer = (name: string): string => `#/components/schemas/${name}/allOf/1/properties/data`;

const dataSchema = (document: SchemaDocument, name: string): JsonSchema =>
  lookUp(document, dataPointer(name)) as JsonSchema;

/** Deep enough for every event; a tree that goes further is cut. */
const DEEPEST = 8;

function sampleOf(schema: JsonSchema, document: SchemaDocument, extent: Extent, depth: number): unknown {
  const within = (part: JsonSchema) => sampleOf(part, document, extent, depth + 1);
  if (schema.$ref !== undefined) return within(lookUp(document, schema.$ref) as JsonSchema);
  if ('const' in schema) return schema.const;
  const choices =
    schema.enum ?? schema.anyOf ?? schema.oneOf ?? (Array.isArray(schema.type) ? schema.type : []);
  const choice = extent === 'full' ? choices[0] : choices.at(-1);
  if (schema.enum) return choice;
  if (Array.isArray(schema.type)) return within({ ...schema, type: String(choice) });
  if (choice !== undefined) return depth > DEEPEST ? null : within(choice as JsonSchema);
  if (schema.type === 'object') return objectOf(schema, extent, within);
  if (schema.type === 'array')
    return extent === 'full' && depth <= DEEPEST ? [within(schema.items ?? {})] : [];
  return PLAIN[String(schema.type)] ?? null;
}

const PLAIN: Readonly<Record<string, unknown>> = { string: 'text', number: 7, integer: 7, boolean: true };

function objectOf(schema: JsonSchema, extent: Extent, within: (part: JsonSchema) => unknown): unknown {
  const required = new Set(schema.required ?? []);
  const members = Object.entries(schema.properties ?? {})
    .filter(([name]) => extent === 'full' || required.has(name))
    .map(([name, member]) => [name, within(member)]);
  return Object.fromEntries(members);
}

/** The corpus as a file: one sample a line, so that a change of one shows as one. */
export function goldenText(corpus: GoldenEvents): string {
  const entries = Object.entries(corpus).map(
    ([type, samples]) =>
      `${JSON.stringify(type)}: [\n${samples.map((one) => JSON.stringify(one)).join(',\n')}\n]`,
  );
  return `{\n${entries.join(',\n')}\n}\n`;
}

import type { ErrorObject } from 'ajv';
import type { Json } from '@runyard/contracts';
import { head, wellFormed } from './text';

/** More errors at once do not help a model to correct its call. */
const TOLD_ERRORS = 5;
const PREVIEW_BYTES = 80;

/** Keywords that only repeat what the errors below them say. */
const WRAPPERS = new Set(['allOf', 'if', '$ref', 'properties', 'items']);

/** Each error as a line that names the field, what is expected there, and what came; the same errors give the same text. */
export function describeErrors(errors: readonly ErrorObject[]): string {
  const telling = mergedForms(errors).filter(({ keyword }) => !WRAPPERS.has(keyword));
  const lines = [...new Set((telling.length > 0 ? telling : errors).map(describe))];
  const told = lines.slice(0, TOLD_ERRORS);
  const left = lines.length - told.length;
  return [...told, ...(left > 0 ? [`- and ${left} more`] : [])].join('\n');
}

/** `anyOf` of plain kinds ("string or null") is told as one expectation instead of one error for each form. */
function mergedForms(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const replaced = new Map<ErrorObject, ErrorObject | undefined>();
  for (const choice of errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')) {
    const forms = errors.filter(({ schemaPath }) => schemaPath.startsWith(`${choice.schemaPath}/`));
    const plain = forms.every((form) => form.keyword === 'type' && form.instancePath === choice.instancePath);
    if (forms.length === 0 || !plain) continue;
    const types = [...new Set(forms.flatMap((form): unknown => form.params['type']))];
    for (const form of forms) replaced.set(form, undefined);
    replaced.set(choice, { ...choice, keyword: 'type', params: { type: types } });
  }
  return errors
    .map((error) => (replaced.has(error) ? replaced.get(error) : error))
    .filter((error) => error !== undefined);
}

function describe(error: ErrorObject): string {
  const { keyword, params, parentSchema, data } = error;
  const field = error.instancePath;
  switch (keyword) {
    case 'required':
    case 'dependentRequired':
      return `- ${field}/${String(params['missingProperty'])}: required, but missing${kindOf(parentSchema, params['missingProperty'])}`;
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return `- ${field}/${shown(params['additionalProperty'] ?? params['unevaluatedProperty'])}: unknown field; leave it out${known(parentSchema)}`;
    case 'type':
      return `- ${at(field)}: expected ${listed(params['type'])}, got ${came(data)}${hint(params['type'], data)}`;
    case 'enum':
      return `- ${at(field)}: expected one of ${preview(params['allowedValues'], 300)}, got ${came(data)}`;
    case 'const':
      return `- ${at(field)}: expected ${preview(params['allowedValue'])}, got ${came(data)}`;
    case 'anyOf':
    case 'oneOf':
      return `- ${at(field)}: ${came(data)} fits none (or several) of the forms allowed here`;
    default:
      return `- ${at(field)}: ${shown(error.message ?? keyword)}, got ${came(data)}`;
  }
}

const at = (field: string): string => wellFormed(field) || 'the arguments';

const listed = (types: unknown): string => (Array.isArray(types) ? types.join(' or ') : String(types));

const shown = (value: unknown): string => head(wellFormed(String(value)), 200);

function kindOf(schema: unknown, field: unknown): string {
  const property = propertiesOf(schema)?.[String(field)];
  const type = isRecord(property) ? property['type'] : undefined;
  return type === undefined ? '' : ` (${listed(type)})`;
}

function known(schema: unknown): string {
  const names = Object.keys(propertiesOf(schema) ?? {});
  return names.length === 0 ? '' : ` (known: ${head(wellFormed(names.join(', ')), 300)})`;
}

const propertiesOf = (schema: unknown): Record<string, unknown> | undefined => {
  const properties = isRecord(schema) ? schema['properties'] : undefined;
  return isRecord(properties) ? properties : undefined;
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** Kind and beginning of a value. */
function came(value: unknown): string {
  if (value === null) return 'null';
  const kind = Array.isArray(value) ? 'array' : typeof value;
  return `${kind} ${preview(value)}`;
}

function preview(value: unknown, limit = PREVIEW_BYTES): string {
  const text = wellFormed(JSON.stringify(value) ?? '');
  const start = head(text, limit);
  return start.length < text.length ? `${start}…` : text;
}

/** What models get wrong most often: JSON inside a string, quoted numbers, null for "not given" (C30). */
function hint(expected: unknown, value: unknown): string {
  const types: unknown[] = Array.isArray(expected) ? expected : [expected];
  if (value === null) return '; leave an optional field out instead of sending null';
  if (typeof value !== 'string') return '';
  const inside = parsed(value);
  const kind = Array.isArray(inside) ? 'array' : typeof inside;
  const fits = types.includes(kind) || (kind === 'number' && types.includes('integer'));
  if (!fits || inside === null) return '';
  return `; send the ${kind} itself, not a string that holds it`;
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

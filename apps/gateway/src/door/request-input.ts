import { Problem, parseWith } from '@runyard/contracts';
import type { FieldError } from '@runyard/contracts';
import { z } from 'zod';
import { pathParameters } from './route';
import type { RouteDeclaration } from './route';

/** A request's parts as the HTTP server gives them. */
export interface RequestParts {
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, unknown>>;
  body: unknown;
  ifMatch: string | undefined;
}

/** Where a field of a route's input stands in the request. */
export type FieldPlace = 'path' | 'query' | 'body' | 'if-match';

/** GET and DELETE read the query, other methods the body, save what the declaration says is in the query. */
export function placeOf(route: RouteDeclaration, field: string): FieldPlace {
  if (pathParameters(route.path).includes(field)) return 'path';
  if (field === 'if_match') return 'if-match';
  if (route.method === 'GET' || route.method === 'DELETE') return 'query';
  return route.query?.includes(field) ? 'query' : 'body';
}

/** True for routes that read at least one field from the body. */
export const readsBody = (route: RouteDeclaration): boolean =>
  Object.keys(route.input.shape).some((field) => placeOf(route, field) === 'body');

/**
 * Pure: the parsed input of a request. Throws `invalid_request` that names every offending field: unknown ones, also
 * those that stand in the wrong part of the request, and a body that contradicts the path (case C63).
 */
export function inputOf(route: RouteDeclaration, parts: RequestParts): Record<string, unknown> {
  const body = bodyOf(route, parts);
  const errors = [...strayFields(route, 'query', parts.query), ...contradictions(route, body, parts.params)];
  const stray = Object.keys(body).filter((field) => field in route.input.shape && !(field in parts.params));
  errors.push(...strayFields(route, 'body', Object.fromEntries(stray.map((field) => [field, true]))));
  if (errors.length > 0) throw refusal(errors);
  const etag = parts.ifMatch === undefined ? {} : { if_match: entityTag(route, parts.ifMatch) };
  return parseWith(route.input, {
    ...body,
    ...fromTexts(route, parts.query),
    ...etag,
    ...fromTexts(route, parts.params),
  });
}

function bodyOf(route: RouteDeclaration, { body }: RequestParts): Record<string, unknown> {
  if (body === undefined || body === null) return {};
  if (!readsBody(route)) {
    if (isRecord(body) && Object.keys(body).length === 0) return {};
    throw refusal([{ pointer: '/', detail: 'no body is expected here' }]);
  }
  if (!isRecord(body)) throw refusal([{ pointer: '/', detail: 'must be a JSON object' }]);
  return body;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function strayFields(
  route: RouteDeclaration,
  place: FieldPlace,
  given: Readonly<Record<string, unknown>>,
): FieldError[] {
  return Object.keys(given)
    .filter((field) => !(field in route.input.shape) || placeOf(route, field) !== place)
    .map((field) => ({
      pointer: `/${field}`,
      detail:
        field in route.input.shape
          ? `belongs in the ${placeOf(route, field)}, not in the ${place}`
          : 'is not a known parameter; remove it',
    }));
}

function contradictions(
  route: RouteDeclaration,
  body: Record<string, unknown>,
  params: Readonly<Record<string, string>>,
): FieldError[] {
  return Object.keys(params)
    .filter((field) => Object.hasOwn(body, field) && body[field] !== params[field])
    .map((field) => ({ pointer: `/${field}`, detail: 'says something else than the path' }));
}

/** Parameters of path and query are texts; where the schema wants numbers or booleans they are read as such. */
function fromTexts(
  route: RouteDeclaration,
  texts: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(texts).map(([field, value]) => {
      const schema = route.input.shape[field];
      return [field, typeof value === 'string' && schema ? readText(value, typesOf(schema)) : value];
    }),
  );
}

function readText(text: string, types: ReadonlySet<string>): unknown {
  if ((types.has('integer') || types.has('number')) && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

const TYPES = new WeakMap<object, ReadonlySet<string>>();

function typesOf(schema: z.core.$ZodType): ReadonlySet<string> {
  const known = TYPES.get(schema);
  if (known) return known;
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const types = new Set(
    [json, ...(json.anyOf ?? [])].flatMap((one) =>
      typeof one === 'object' && one.type ? [one.type].flat() : [],
    ),
  );
  TYPES.set(schema, types);
  return types;
}

/** `If-Match: "3.2"`, also weak or bare. `*` matches whatever there is, so it asks for nothing. */
function entityTag(route: RouteDeclaration, header: string): string | undefined {
  const text = header.trim();
  if (text === '*' || !('if_match' in route.input.shape)) return undefined;
  return /^(?:W\/)?"([^"]*)"$/.exec(text)?.[1] ?? text;
}

function refusal(errors: FieldError[]): Problem {
  const first = errors[0];
  return new Problem('invalid_request', `The request is not valid: ${first?.pointer} ${first?.detail}`, {
    errors,
  });
}

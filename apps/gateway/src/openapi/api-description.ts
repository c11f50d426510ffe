import { z } from 'zod';
import { PROBLEMS } from '@runyard/contracts';
import type { ProblemCode } from '@runyard/contracts';
import { pathParameters } from '../door/route';
import type { RouteDeclaration, Success } from '../door/route';
import { placeOf, readsBody } from '../door/request-input';
import { PROBLEM_CATALOGUE } from '../problems/problem-catalogue';
import { describeApi, problemSchema, securitySchemes } from './api-texts';
import { JsonSchemas } from './json-schemas';
import type { JsonSchema } from './json-schemas';

/** Refusals that every guarded route has. */
const ALWAYS: readonly ProblemCode[] = [
  'invalid_request',
  'unauthenticated',
  'forbidden',
  'rate_limited',
  'internal',
  'unavailable',
];

/** OpenAPI 3.1, made of the same declarations that mount, guard and validate the routes. */
export class ApiDescription {
  readonly document: Record<string, unknown>;
  private readonly schemas = new JsonSchemas();
  private readonly responses: Record<string, unknown> = {};

  constructor(routes: readonly RouteDeclaration[]) {
    const paths: Record<string, Record<string, unknown>> = {};
    for (const route of routes) {
      const path = route.path.replaceAll(/:([a-z_]+)/g, '{$1}');
      paths[path] = { ...paths[path], [route.method.toLowerCase()]: this.operation(route) };
    }
    this.document = {
      openapi: '3.1.0',
      ...describeApi([...new Set(routes.map((route) => route.tag))]),
      paths,
      components: {
        schemas: { ...this.schemas.components, Problem: problemSchema(Object.keys(PROBLEMS)) },
        responses: this.responses,
        securitySchemes,
      },
    };
  }

  private operation(route: RouteDeclaration): Record<string, unknown> {
    const body = this.body(route);
    return {
      operationId: route.name.replaceAll('.', '_'),
      tags: [route.tag],
      summary: route.summary,
      ...(route.description ? { description: route.description } : {}),
      ...(route.access === 'public' ? { security: [] } : { 'x-roles': route.access }),
      parameters: [...this.parameters(route), ...headerParameters(route)],
      ...(body ? { requestBody: body } : {}),
      responses: { ...this.successes(route), ...this.refusals(route) },
    };
  }

  private parameters(route: RouteDeclaration): Record<string, unknown>[] {
    return Object.entries(route.input.shape).flatMap(([name, field]) => {
      const place = placeOf(route, name);
      if (place !== 'path' && place !== 'query') return [];
      const schema = this.schemas.of(field as z.ZodType, 'input', `${route.name}.${name}`);
      return [{ name, in: place, required: place === 'path', schema }];
    });
  }

  private body(route: RouteDeclaration): Record<string, unknown> | undefined {
    const fields = Object.entries(route.input.shape).filter(([name]) => placeOf(route, name) === 'body');
    if (fields.length === 0) return undefined;
    const schema = this.schemas.of(z.strictObject(Object.fromEntries(fields)), 'input', route.name);
    return { required: Array.isArray(schema.required), content: { 'application/json': { schema } } };
  }

  private successes(route: RouteDeclaration): Record<string, unknown> {
    return Object.fromEntries(route.success.map((success) => [success.status, this.success(route, success)]));
  }

  /** Refusals by status; several codes may share one, and several routes an answer. */
  private refusals(route: RouteDeclaration): Record<string, unknown> {
    const byStatus = new Map<number, ProblemCode[]>();
    for (const code of refusalCodes(route))
      byStatus.set(PROBLEMS[code], [...(byStatus.get(PROBLEMS[code]) ?? []), code]);
    return Object.fromEntries(
      [...byStatus].map(([status, codes]) => {
        const name = codes.join('.');
        this.responses[name] = refusal(codes);
        return [status, { $ref: `#/components/responses/${name}` }];
      }),
    );
  }

  private success(route: RouteDeclaration, { description, body }: Success): Record<string, unknown> {
    if (!body) return { description };
    const schema = this.schemas.of(body, 'output', route.name);
    const stream = route.name === 'runs.events' || route.name === 'runs.start';
    const content: Record<string, unknown> = { 'application/json': { schema } };
    if (stream && route.success.some((one) => one.status === 200 && one.body === body))
      content['text/event-stream'] = { schema: { type: 'string' } };
    return { description, content };
  }
}

function headerParameters(route: RouteDeclaration): Record<string, unknown>[] {
  const header = (name: string, description: string, schema: JsonSchema = { type: 'string' }) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema,
  });
  const found: Record<string, unknown>[] = [];
  if (route.idempotency)
    found.push(
      header(
        'Idempotency-Key',
        route.idempotency === 'run'
          ? 'Names the run for ever'
          : 'Replays the first answer to a repetition within 24 hours',
        { type: 'string', minLength: 1, maxLength: 255 },
      ),
    );
  if ('if_match' in route.input.shape)
    found.push(header('If-Match', 'The ETag that the change was made on; another one is refused with 412'));
  if (route.name === 'runs.start')
    found.push(header('Prefer', 'wait=N waits up to N seconds (at most 60) for the end of the run'));
  if (route.name === 'runs.events')
    found.push(
      header('Last-Event-ID', 'Cursor of the last event seen; set by EventSource when it reconnects'),
    );
  return found;
}

/** Codes that a route may refuse with. */
function refusalCodes(route: RouteDeclaration): Set<ProblemCode> {
  const codes = new Set<ProblemCode>(route.access === 'public' ? ['rate_limited', 'internal'] : ALWAYS);
  const add = (more: readonly ProblemCode[]): void => more.forEach((code) => codes.add(code));
  add(route.problems ?? []);
  if (pathParameters(route.path).length > 0) add(['not_found']);
  if (readsBody(route)) add(['malformed_json', 'payload_too_large', 'unsupported_media_type']);
  if (route.idempotency === 'replayed') add(['request_in_progress', 'idempotency_key_mismatch']);
  return codes;
}

/** One answer for all codes of a status. */
function refusal(codes: readonly ProblemCode[]): Record<string, unknown> {
  return {
    description: codes.map((code) => `\`${code}\`: ${PROBLEM_CATALOGUE[code].title}`).join('; '),
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
  };
}

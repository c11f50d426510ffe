import { Problem, createAgentSchema, updateAgentSchema } from '@runyard/contracts';
import type { FieldError } from '@runyard/contracts';
import { z } from 'zod';
import { inputOf, placeOf } from './request-input';
import type { RequestParts } from './request-input';
import { RouteTable } from './route';
import type { RouteDeclaration } from './route';

const declared = (set: Partial<RouteDeclaration>): RouteDeclaration => ({
  method: 'GET',
  path: '/v1/things/:thing_id',
  name: 'things.get',
  tag: 'things',
  summary: '',
  access: 'public',
  success: [],
  input: z.strictObject({}),
  ...set,
});
const parts = (set: Partial<RequestParts>): RequestParts => ({
  params: {},
  query: {},
  body: undefined,
  ifMatch: undefined,
  ...set,
});
const errorsOf = (run: () => unknown): FieldError[] => {
  try {
    run();
    return [];
  } catch (error) {
    return error instanceof Problem ? (error.facts.errors ?? []) : [{ pointer: '?', detail: String(error) }];
  }
};

const list = declared({
  path: '/v1/things',
  input: z.strictObject({
    limit: z.int().min(1).max(10).default(5),
    enabled: z.boolean().optional(),
    search: z.string().optional(),
  }),
});
const update = declared({ method: 'PATCH', path: '/v1/agents/:agent_id', input: updateAgentSchema });
const create = declared({ method: 'POST', path: '/v1/agents', input: createAgentSchema });
const streamed = declared({
  method: 'POST',
  path: '/v1/runs',
  input: z.strictObject({ text: z.string(), stream: z.boolean().default(false) }),
  query: ['stream'],
});

describe('the input of a request', () => {
  test('numbers and booleans of a query are read as what the schema wants, texts stay texts', () => {
    expect(inputOf(list, parts({ query: { limit: '3', enabled: 'false', search: '12' } }))).toEqual({
      limit: 3,
      enabled: false,
      search: '12',
    });
    expect(inputOf(list, parts({}))).toEqual({ limit: 5 });
  });

  test.each([
    [{ limit: '3.5' }, '/limit'],
    [{ limit: '0' }, '/limit'],
    [{ limit: '' }, '/limit'],
    [{ limit: ['1', '2'] }, '/limit'],
    [{ enabled: 'yes' }, '/enabled'],
    [{ api_key: 'x' }, '/api_key'],
  ])('a query %j is refused at %s', (query, pointer) => {
    expect(errorsOf(() => inputOf(list, parts({ query }))).map((error) => error.pointer)).toEqual([pointer]);
  });

  test('fields come from path, body, query and If-Match', () => {
    expect(['agent_id', 'if_match', 'name'].map((field) => placeOf(update, field))).toEqual([
      'path',
      'if-match',
      'body',
    ]);
    expect(
      inputOf(update, parts({ params: { agent_id: 'a' }, body: { name: 'N' }, ifMatch: 'W/"3.1"' })),
    ).toEqual({ agent_id: 'a', name: 'N', if_match: '3.1' });
    expect(inputOf(update, parts({ params: { agent_id: 'a' }, body: { name: 'N' }, ifMatch: '*' }))).toEqual({
      agent_id: 'a',
      name: 'N',
    });
    expect(inputOf(streamed, parts({ body: { text: 'x' }, query: { stream: 'true' } }))).toEqual({
      text: 'x',
      stream: true,
    });
  });

  test('a field in the wrong part of the request is told where it belongs', () => {
    expect(errorsOf(() => inputOf(streamed, parts({ body: { text: 'x', stream: true } })))).toEqual([
      { pointer: '/stream', detail: 'belongs in the query, not in the body' },
    ]);
    expect(errorsOf(() => inputOf(streamed, parts({ body: {}, query: { text: 'x' } })))).toEqual([
      { pointer: '/text', detail: 'belongs in the body, not in the query' },
    ]);
    expect(
      errorsOf(() => inputOf(update, parts({ params: { agent_id: 'a' }, body: { if_match: '1.1' } }))),
    ).toEqual([{ pointer: '/if_match', detail: 'belongs in the if-match, not in the body' }]);
  });

  test('a body that repeats the path is let through, one that contradicts it is not', () => {
    expect(inputOf(update, parts({ params: { agent_id: 'a' }, body: { agent_id: 'a', name: 'N' } }))).toEqual(
      { agent_id: 'a', name: 'N' },
    );
    expect(
      errorsOf(() => inputOf(update, parts({ params: { agent_id: 'a' }, body: { agent_id: 'b' } }))),
    ).toHaveLength(1);
  });

  test('nested fields are pointed at', () => {
    const body = { agent_id: 'a', name: 'N', prompt: 'P', bounds: { max_steps: 0, 'odd/key': 1 } };
    expect(
      errorsOf(() => inputOf(create, parts({ body })))
        .map((error) => error.pointer)
        .sort(),
    ).toEqual(['/bounds/max_steps', '/bounds/odd/key']);
  });

  test('a body where none is expected is refused, an empty object is none', () => {
    expect(inputOf(list, parts({ body: {} }))).toEqual({ limit: 5 });
    expect(errorsOf(() => inputOf(list, parts({ body: { limit: 1 } })))).toHaveLength(1);
    expect(errorsOf(() => inputOf(create, parts({ body: 'text' })))).toEqual([
      { pointer: '/', detail: 'must be a JSON object' },
    ]);
  });
});

describe('the table of routes', () => {
  const table = new RouteTable([
    declared({}),
    declared({ method: 'DELETE' }),
    declared({ path: '/v1/openapi.json' }),
  ]);

  test('finds a declaration by method and pattern; HEAD is GET', () => {
    expect(table.find('HEAD', '/v1/things/:thing_id')?.method).toBe('GET');
    expect(table.find('PUT', '/v1/things/:thing_id')).toBeUndefined();
  });

  test('knows what a concrete path offers', () => {
    expect(table.methodsAt('/v1/things/7')).toEqual(['DELETE', 'GET', 'HEAD']);
    expect(table.methodsAt('/v1/things/7/')).toEqual(['DELETE', 'GET', 'HEAD']);
    expect(table.methodsAt('/v1/things/7/8')).toEqual([]);
    expect(table.methodsAt('/v1/openapiXjson')).toEqual([]);
  });
});

import { asyncApiBreaks } from './asyncapi-breaks';
import type { JsonSchema } from './json-schema';
import { openApiBreaks } from './openapi-breaks';
import { schemaBreaks } from './schema-breaks';
import type { Direction } from './schema-breaks';

const text: JsonSchema = { type: 'string' };
const number: JsonSchema = { type: 'number' };
const object = (properties: Record<string, JsonSchema>, required: string[] = []): JsonSchema => ({
  type: 'object',
  properties,
  required,
});
const choice = (kind: string, more: Record<string, JsonSchema> = {}): JsonSchema =>
  object({ kind: { const: kind }, ...more }, ['kind']);

/** What broke, for others' input, for our output, and for what we keep. */
type Expected = Partial<Record<Direction, string[]>>;
const everywhere = (what: string[]): Expected => ({ in: what, out: what, kept: what });

const TABLE: [what: string, before: JsonSchema, after: JsonSchema, breaks: Expected][] = [
  ['nothing changed', object({ a: text }, ['a']), object({ a: text }, ['a']), {}],
  ['a new optional member', object({ a: text }), object({ a: text, b: text }), {}],
  ['a member is gone', object({ a: text }), object({}), everywhere(['.a is gone'])],
  [
    'a new member is demanded',
    object({}),
    object({ a: text }, ['a']),
    { in: ['.a is now required'], kept: ['.a is now required'] },
  ],
  [
    'a member may be missing',
    object({ a: text }, ['a']),
    object({ a: text }),
    { out: ['.a may now be missing'], kept: ['.a may now be missing'] },
  ],
  [
    'a type is another one',
    text,
    number,
    {
      in: [' can no longer be string'],
      out: [' can now be number'],
      kept: [' can no longer be string', ' can now be number'],
    },
  ],
  [
    'a type is wider',
    text,
    { type: ['string', 'null'] },
    { out: [' can now be null'], kept: [' can now be null'] },
  ],
  [
    'a type is narrower',
    { anyOf: [text, { type: 'null' }] },
    text,
    { in: [' can no longer be null'], kept: [' can no longer be null'] },
  ],
  [
    'whole numbers become numbers',
    { type: 'integer' },
    number,
    { out: [' can now be number'], kept: [' can now be number'] },
  ],
  ['a new value', { enum: ['a'] }, { enum: ['a', 'b'] }, {}],
  ['a value is gone', { enum: ['a', 'b'] }, { enum: ['a'] }, everywhere([' the value "b" is gone'])],
  [
    'any text becomes a list',
    text,
    { enum: ['a'] },
    { in: [' is now one of a'], kept: [' is now one of a'] },
  ],
  ['a list becomes any text', { enum: ['a'] }, text, {}],
  [
    'a value moves between alternatives',
    { enum: ['a', 'b'] },
    { anyOf: [{ const: 'b' }, { const: 'a' }] },
    {},
  ],
  [
    'a new alternative',
    { anyOf: [choice('a'), choice('b')] },
    { anyOf: [choice('b'), choice('c'), choice('a')] },
    {},
  ],
  [
    'an alternative is gone',
    { anyOf: [choice('a'), choice('b')] },
    { anyOf: [choice('a')] },
    everywhere([' this alternative is gone']),
  ],
  [
    'a member inside an alternative is gone',
    { anyOf: [choice('a', { x: text }), choice('b')] },
    { anyOf: [choice('b'), choice('a')] },
    everywhere(['.x is gone']),
  ],
  [
    'an item of a list has changed',
    { type: 'array', items: object({ a: text }) },
    { type: 'array', items: object({}) },
    everywhere(['[].a is gone']),
  ],
  [
    'a limit is tighter',
    { ...text, maxLength: 10 },
    { ...text, maxLength: 5 },
    { in: [' maxLength is now 5'], kept: [' maxLength is now 5'] },
  ],
  ['a limit is looser', { ...number, minimum: 5 }, { ...number, minimum: 1 }, {}],
  [
    'a limit is new',
    number,
    { ...number, minimum: 0 },
    { in: [' minimum is now 0'], kept: [' minimum is now 0'] },
  ],
  [
    'unknown members are refused now',
    object({ a: text }),
    { ...object({ a: text }), additionalProperties: false },
    {
      in: [' no longer takes members that it does not know'],
      kept: [' no longer takes members that it does not know'],
    },
  ],
  [
    'parts of a whole',
    { allOf: [object({ a: text }), object({ b: text })] },
    object({ a: text }),
    everywhere(['.b is gone']),
  ],
];

describe('what breaks between two schemas', () => {
  const directions: Direction[] = ['in', 'out', 'kept'];
  test.each(
    TABLE.flatMap((row) =>
      directions.map((direction) => [...row.slice(0, 1), direction, ...row.slice(1)] as const),
    ),
  )('%s (%s)', (_what, direction, before, after, expected) => {
    const found = schemaBreaks(
      before as JsonSchema,
      after as JsonSchema,
      { before: {}, after: {}, direction: direction as Direction },
      '',
    );
    expect(found.map(({ at, what }) => `${at} ${what}`)).toEqual(
      (expected as Expected)[direction as Direction] ?? [],
    );
  });

  test('references are followed in their own document, and circles end', () => {
    const tree = (leaf: JsonSchema) => ({
      schemas: { Tree: object({ leaf, children: { type: 'array', items: { $ref: '#/schemas/Tree' } } }) },
    });
    const change = { before: tree(text), after: tree(number), direction: 'in' as const };
    const reference = { $ref: '#/schemas/Tree' };
    expect(schemaBreaks(reference, reference, change, 'tree')).toEqual([
      { at: 'tree.leaf', what: 'can no longer be string' },
    ]);
  });
});

const api = (operation: object | undefined) => ({
  paths: { '/v1/things': operation ? { post: operation } : {} },
});
const operation = {
  'x-roles': ['member', 'admin'],
  parameters: [{ name: 'limit', in: 'query', required: false, schema: number }],
  requestBody: { required: false, content: { 'application/json': { schema: object({ a: text }) } } },
  responses: {
    201: { content: { 'application/json': { schema: object({ id: text }, ['id']) } } },
    400: { $ref: '#/components/responses/refused' },
  },
};

describe('what breaks between two descriptions of the HTTP API', () => {
  test.each<[string, object | undefined, string[]]>([
    ['nothing changed', operation, []],
    ['the operation is gone', undefined, ['POST /v1/things is gone']],
    [
      'a role is shut out',
      { ...operation, 'x-roles': ['admin'] },
      ['POST /v1/things is no longer open to the role member'],
    ],
    ['a parameter is gone', { ...operation, parameters: [] }, ['POST /v1/things query limit is gone']],
    [
      'a parameter is demanded',
      { ...operation, parameters: [...operation.parameters, { name: 'at', in: 'query', required: true }] },
      ['POST /v1/things query at is now required'],
    ],
    [
      'a body is demanded',
      { ...operation, requestBody: { ...operation.requestBody, required: true } },
      ['POST /v1/things a body is now required'],
    ],
    ['bodies are gone', { ...operation, requestBody: undefined }, ['POST /v1/things no longer takes a body']],
    [
      'another status',
      { ...operation, responses: { 200: operation.responses[201] } },
      ['POST /v1/things no longer answers 201'],
    ],
    [
      'a member of the answer is gone',
      { ...operation, responses: { 201: { content: { 'application/json': { schema: object({}) } } } } },
      ['POST /v1/things 201.id is gone'],
    ],
    [
      'another content type',
      { ...operation, responses: { 201: { content: { 'text/plain': {} } } } },
      ['POST /v1/things 201 application/json is gone'],
    ],
  ])('%s', (_what, after, expected) => {
    const found = openApiBreaks(api(operation), api(after));
    expect(found.map(({ at, what }) => `${at} ${what}`)).toEqual(expected);
  });
});

const bus = (data: JsonSchema, more: { address?: string; action?: string } = {}) => ({
  channels: {
    runs: {
      address: more.address ?? 'runyard.runs.{slot}.{org}.{id}',
      messages: { runs: { $ref: '#/components/messages/runs' } },
      'x-jetstream': { stream: 'RUNS' },
    },
  },
  operations: { send_runs: { action: more.action ?? 'send', channel: { $ref: '#/channels/runs' } } },
  components: {
    messages: {
      runs: {
        contentType: 'application/cloudevents-batch+json',
        payload: {
          type: 'array',
          items: {
            oneOf: [{ $ref: '#/components/schemas/RunQueued' }, { $ref: '#/components/schemas/RunEnded' }],
          },
        },
      },
    },
    schemas: {
      Envelope: object({ id: text, type: text }, ['id', 'type']),
      RunQueued: {
        allOf: [
          { $ref: '#/components/schemas/Envelope' },
          object({ type: { const: 'runyard.RunQueued.v1' }, data }, ['data']),
        ],
      },
      RunEnded: {
        allOf: [
          { $ref: '#/components/schemas/Envelope' },
          object({ type: { const: 'runyard.RunEnded.v1' }, data: object({}) }),
        ],
      },
    },
  },
});

describe('what breaks between two descriptions of the bus', () => {
  const before = bus(object({ a: text }, ['a']));
  test.each<[string, object, string[]]>([
    ['nothing changed', before, []],
    ['an event grew', bus(object({ a: text, b: text }, ['a'])), []],
    [
      'a member that old events lack',
      bus(object({ a: text, b: text }, ['a', 'b'])),
      ['runs[]<RunQueued>.data.b is now required'],
    ],
    ['a member that readers need', bus(object({ a: text })), ['runs[]<RunQueued>.data.a may now be missing']],
    ['another subject', bus(object({ a: text }, ['a']), { address: 'runs.>' }), ['runs is now at runs.>']],
  ])('%s', (_what, after, expected) => {
    const found = asyncApiBreaks(before, after as Record<string, unknown>);
    expect(found.map(({ at, what }) => `${at} ${what}`)).toEqual(expected);
  });

  test('what others publish may grow optional members and lose demands', () => {
    const requests = (data: JsonSchema) => bus(data, { action: 'receive' });
    expect(asyncApiBreaks(requests(object({ a: text }, ['a'])), requests(object({ a: text })))).toEqual([]);
  });

  test('an event or a channel that is gone is named', () => {
    const { runs: _runs, ...rest } = before.channels;
    expect(asyncApiBreaks(before, { ...before, channels: rest })).toEqual([{ at: 'runs', what: 'is gone' }]);
    const less = structuredClone(before);
    less.components.messages.runs.payload.items.oneOf.pop();
    expect(asyncApiBreaks(before, less)).toEqual([
      { at: 'runs[]<RunEnded>', what: 'this alternative is gone' },
    ]);
  });
});

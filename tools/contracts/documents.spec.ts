// The published descriptions: made of the code, valid, and without a break of what was released.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import asyncApiSchema from '@asyncapi/specs/schemas/3.0.0.json';
import { Validator } from '@seriousme/openapi-schema-validator';
import { currentVersion, upcast } from '@runyard/contracts';
import type { CloudEvent } from '@runyard/contracts';
import Ajv from 'ajv';
import { apiFaults } from './api-rules';
import { asyncApiBreaks } from './asyncapi-breaks';
import { busDocuments, GOLDEN } from './documents';
import { dataPointer } from './golden-events';
import type { GoldenEvents } from './golden-events';
import { contextOfTable, eventTables } from './event-tables';
import type { JsonSchema } from './json-schema';
import { openApiBreaks } from './openapi-breaks';

// The compiler behind the event schemas takes seconds, on a busy machine many.
jest.setTimeout(180_000);

const root = path.resolve(__dirname, '../..');
const read = (file: string) => fs.readFileSync(path.join(root, file), 'utf8');
const openApi = JSON.parse(read('docs/openapi.json')) as Record<string, unknown>;
const asyncApi = JSON.parse(read('docs/asyncapi.json')) as {
  channels: Record<string, { messages: Record<string, { $ref: string }> }>;
  components: { schemas: Record<string, JsonSchema>; messages: Record<string, unknown> };
};

/** The newest released description of a name. */
function released(name: string): Record<string, unknown> {
  const versions = fs
    .readdirSync(path.join(root, 'docs/released'))
    .flatMap((file) => new RegExp(`^${name}-(\\d+)\\.(\\d+)\\.json$`).exec(file)?.slice(1).map(Number) ?? [])
    .reduce<number[][]>(
      (pairs, part, at) =>
        at % 2 === 0 ? [...pairs, [part]] : [...pairs.slice(0, -1), [...(pairs.at(-1) ?? []), part]],
      [],
    )
    .sort(([a = 0, b = 0], [c = 0, d = 0]) => a - c || b - d);
  const newest = versions.at(-1);
  if (!newest) throw new Error(`no released ${name} in docs/released`);
  return JSON.parse(read(`docs/released/${name}-${newest.join('.')}.json`)) as Record<string, unknown>;
}

describe('documents about the bus', () => {
  let made: Record<string, string>;
  beforeAll(() => {
    made = busDocuments(root);
  });

  test.each(['docs/asyncapi.json', 'docs/events.md', GOLDEN])(
    '%s is what the code says; otherwise run node tools/contracts/generate.mjs',
    (file) => {
      expect(read(file) === made[file]).toBe(true);
    },
  );

  test('every event is described once, with its meaning', () => {
    const names = [...eventTables().values()].flat();
    expect(new Set(names).size).toBe(names.length);
    const silent = names.filter((name) => !asyncApi.components.schemas[name]?.description);
    expect(silent).toEqual([]);
  });

  test('a table of events that belongs nowhere is an error, not a gap', () => {
    expect(contextOfTable('RUN_EVENTS')).toBe('runs');
    expect(contextOfTable('CATALOGUE_EVENTS')).toBe('catalogue');
    expect(() => contextOfTable('WEATHER_EVENTS')).toThrow('belongs to no context');
  });

  test('names are names, and every reference points at something', () => {
    const schemas = Object.keys(asyncApi.components.schemas);
    expect(schemas.filter((name) => !/^[A-Za-z]\w*$/.test(name))).toEqual([]);
    const targets = [...JSON.stringify(asyncApi).matchAll(/"#\/components\/(schemas|messages)\/([^/"]+)"/g)];
    expect(targets.length).toBeGreaterThan(100);
    const missing = targets.filter(
      ([, kind, name]) => !(String(name) in asyncApi.components[kind as 'schemas' | 'messages']),
    );
    expect(missing.map(([reference]) => reference)).toEqual([]);
  });
});

describe('published descriptions are valid', () => {
  test('OpenAPI 3.1, by its own schema', async () => {
    const result = await new Validator().validate(structuredClone(openApi));
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
  });

  test('OpenAPI, by our own rules', () => {
    expect(apiFaults(openApi)).toEqual([]);
  });

  test('our own rules fire', () => {
    const bad = {
      tags: [{ name: 'a' }],
      paths: { '/v1/{id}': { get: { operationId: 'x', tags: ['b'] }, put: { operationId: 'x' } } },
    };
    expect(apiFaults(bad)).toEqual(
      expect.arrayContaining([
        'tag a: no description',
        'GET /v1/{id}: no summary',
        'GET /v1/{id}: a tag that is not described',
        'GET /v1/{id}: no refusal',
        'GET /v1/{id}: parameters that differ from the path',
        'PUT /v1/{id}: shares its operationId with GET /v1/{id}',
      ]),
    );
  });

  test('AsyncAPI 3.0, by its own schema', () => {
    const validate = new Ajv({
      strict: false,
      meta: false,
      validateSchema: false,
      validateFormats: false,
    }).compile(asyncApiSchema);
    expect(validate({ ...asyncApi, channels: { runs: { address: 1 } } })).toBe(false);
    validate(asyncApi);
    expect(validate.errors ?? []).toEqual([]);
  });
});

describe('nothing breaks that was released (docs/released/README.md)', () => {
  test('the HTTP API', () => expect(openApiBreaks(released('openapi'), openApi)).toEqual([]));
  test('the bus', () => expect(asyncApiBreaks(released('asyncapi'), asyncApi)).toEqual([]));
});

describe('the golden corpus: events as they were first written', () => {
  const corpus = JSON.parse(read(GOLDEN)) as GoldenEvents;
  const names = new Set([...eventTables().values()].flat());
  const ajv = new Ajv({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'bus', components: asyncApi.components });

  test('every version of every event has samples', () => {
    const wanted = [...names].flatMap((name) =>
      Array.from({ length: currentVersion(name) }, (_, before) => `runyard.${name}.v${before + 1}`),
    );
    expect(wanted.filter((type) => !(corpus[type]?.length ?? 0))).toEqual([]);
  });

  test.each(Object.entries(corpus))('%s is still read, and has the newest shape then', (type, samples) => {
    for (const data of samples) {
      const event = { type, data } as CloudEvent<unknown>;
      const lifted = upcast(event, (name) => names.has(name));
      expect(lifted).toMatchObject({ known: true });
      const validate = ajv.compile({ $ref: `bus${dataPointer(lifted.name)}` });
      validate(lifted.data);
      expect(validate.errors ?? []).toEqual([]);
    }
  });
});

test('a type of the contracts that is no more is an error of the reader', () => {
  const { status, stderr } = spawnSync(
    process.execPath,
    ['tools/contracts/event-schemas.mjs', 'NoSuchType'],
    { cwd: root, encoding: 'utf8' },
  );
  expect(status).not.toBe(0);
  expect(stderr).toContain('NoSuchType');
});

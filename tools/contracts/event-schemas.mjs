// node tools/contracts/event-schemas.mjs <type …>: JSON Schemas of exported types of the contracts, as
// {"types": {name: {description, schema}}, "definitions": {name: schema}}. The types themselves are read, so that no second
// description of an event can drift from the first. A process of its own, because the reading brings its own compiler.
import path from 'node:path';
import { createGenerator } from 'ts-json-schema-generator';

const root = path.resolve(import.meta.dirname, '../..');
const generator = createGenerator({
  path: path.join(root, 'libs/contracts/src/index.ts'),
  tsconfig: path.join(import.meta.dirname, 'tsconfig.json'),
  skipTypeCheck: true,
  topRef: true,
  expose: 'export',
  jsDoc: 'extended',
  encodeRefs: false,
  // A reader must bear members that it does not know: events grow by addition.
  additionalProperties: true,
});

const PREFIX = '#/definitions/';
const NAME = /^[A-Za-z]\w*$/;
const types = {};
const definitions = {};

for (const name of process.argv.slice(2)) {
  const { definitions: found } = generator.createSchema(name);
  // An alias of a generic type is a reference to an instance of it, whose own name is made of places in files.
  const { $ref, description, ...own } = found[name];
  const target = $ref === undefined ? own : found[$ref.slice(PREFIX.length)];
  types[name] = { ...(description === undefined ? {} : { description }), schema: target };
  for (const [other, schema] of Object.entries(found))
    if (other !== name && NAME.test(other)) definitions[other] = schema;
}
process.stdout.write(JSON.stringify({ types, definitions }));

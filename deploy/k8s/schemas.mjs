// node deploy/k8s/schemas.mjs <group/version/Kind …>: JSON Schemas of Kubernetes' own types (kubernetes-types, made from the
// API's OpenAPI description), closed: a member that no type knows is refused. {kind: schema}. A process of its own, because
// the reading brings its own compiler.
import path from 'node:path';
import { createGenerator } from 'ts-json-schema-generator';

const types = path.resolve(import.meta.dirname, '../../node_modules/kubernetes-types');
const schemas = {};
for (const name of process.argv.slice(2)) {
  const [group, version, kind] = name.split('/');
  const generator = createGenerator({
    path: path.join(types, group, `${version}.d.ts`),
    tsconfig: path.resolve(import.meta.dirname, '../../tools/contracts/tsconfig.json'),
    skipTypeCheck: true,
    expose: 'export',
    encodeRefs: false,
    additionalProperties: false,
  });
  schemas[kind] = generator.createSchema(kind);
}
process.stdout.write(JSON.stringify(schemas));

// node apps/gateway/generate.mjs: writes docs/openapi.json, docs/problems.md and the client's types from the code. A test compares them.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');
execFileSync(process.execPath, ['tools/build.mjs', 'apps/gateway', 'libs'], { cwd: root, stdio: 'inherit' });
const require = createRequire(import.meta.url);
require('reflect-metadata');
const { generatedDocuments } = require(
  path.join(root, 'dist/apps/gateway/src/handlers/generated-documents.js'),
);
for (const [file, text] of Object.entries(generatedDocuments())) {
  fs.writeFileSync(path.join(root, file), text);
  console.log(`wrote ${file}`);
}

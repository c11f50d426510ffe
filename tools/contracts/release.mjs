// node tools/contracts/release.mjs: keeps docs/openapi.json and docs/asyncapi.json as what this version has promised
// (docs/released/README.md says when).
import fs from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');
const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
const [major, minor] = version.split('.');
for (const name of ['openapi', 'asyncapi']) {
  const file = `docs/released/${name}-${major}.${minor}.json`;
  fs.copyFileSync(path.join(root, `docs/${name}.json`), path.join(root, file));
  console.log(`wrote ${file}`);
}

// node tools/contracts/generate.mjs: writes docs/asyncapi.json and docs/events.md from the code, and samples of new events. A test compares them.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');
execFileSync(process.execPath, ['tools/build.mjs', 'libs', 'deploy/nats', 'tools/contracts'], {
  cwd: root,
  stdio: 'inherit',
});
const { busDocuments } = createRequire(import.meta.url)(path.join(root, 'dist/tools/contracts/documents.js'));
for (const [file, text] of Object.entries(busDocuments(root))) {
  fs.writeFileSync(path.join(root, file), text);
  console.log(`wrote ${file}`);
}

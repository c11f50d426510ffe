// node tools/run.mjs <module below dist, without .js> [arguments …]: installs and builds what is missing, then runs it.
// One door for `npm start`, `npm run tau` and `npm run bench`, so that each works from a bare checkout.
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const [target, ...args] = process.argv.slice(2);

function must(command, parameters, options = {}) {
  const done = spawnSync(command, parameters, { cwd: root, stdio: ['ignore', 2, 2], ...options });
  if (done.status !== 0) process.exit(done.status ?? 1);
}

if (!fs.existsSync(path.join(root, 'node_modules/@nestjs/core'))) must('npm', ['ci']);
must(process.execPath, ['tools/build.mjs']);

const child = spawn(
  process.execPath,
  ['--enable-source-maps', path.join(root, 'dist', `${target}.js`), ...args],
  { cwd: root, stdio: 'inherit' },
);
// The terminal sends Ctrl-C to both; a signal to this process alone is passed on. The child stops in order, then we end as it did.
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => signal === 'SIGTERM' && child.kill(signal));
child.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)));

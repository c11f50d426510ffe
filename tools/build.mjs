// node tools/build.mjs [directory …]: transpiles every TypeScript file to dist/ in the same layout.
// swc rewrites the @runyard/* aliases to relative paths, so that dist/ runs on plain Node.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(import.meta.url);
const { transformFile } = require('@swc/core');
const { options } = require('../swc.config.cjs');

const root = path.resolve(import.meta.dirname, '..');
const ROOMS = ['apps', 'libs', 'deploy', 'bench', 'examples'];
const SKIPPED = /(^|\/)(node_modules|e2e)\/|^apps\/console\/|^libs\/testing\/|\.(spec|d)\.ts$/;

/** @returns {string[]} paths relative to the root of the TypeScript files below a directory. */
function sources(directory) {
  const full = path.resolve(root, directory);
  if (!fs.existsSync(full)) return [];
  return fs
    .readdirSync(full, { recursive: true })
    .map((file) => path.relative(root, path.join(full, String(file))))
    .filter((file) => file.endsWith('.ts') && !SKIPPED.test(file));
}

async function transpile(file) {
  const out = path.join(root, 'dist', file.replace(/\.ts$/, '.js'));
  const { code, map } = await transformFile(path.join(root, file), options());
  fs.mkdirSync(path.dirname(out), { recursive: true });
  fs.writeFileSync(out, `${code}\n//# sourceMappingURL=${path.basename(out)}.map\n`);
  if (map) fs.writeFileSync(`${out}.map`, map);
}

/** Plain scripts that built code imports; they run as they are. */
function copyScripts() {
  const scripts = fs.readdirSync(path.join(root, 'deploy'), { recursive: true }).map(String);
  for (const file of scripts.filter((name) => name.endsWith('.mjs'))) {
    const out = path.join(root, 'dist/deploy', file);
    fs.mkdirSync(path.dirname(out), { recursive: true });
    fs.copyFileSync(path.join(root, 'deploy', file), out);
  }
}

/** Removes what was built from a source that is gone: it must not live on in dist/ and be loaded from there. */
function removeStrays(built) {
  const expected = new Set(built.map((file) => file.replace(/\.ts$/, '.js')));
  for (const room of ROOMS) {
    const dist = path.join(root, 'dist', room);
    if (!fs.existsSync(dist)) continue;
    for (const entry of fs.readdirSync(dist, { recursive: true })) {
      const file = path.join(room, String(entry));
      if (/\.js(\.map)?$/.test(file) && !expected.has(file.replace(/\.map$/, ''))) {
        fs.rmSync(path.join(root, 'dist', file), { force: true });
      }
    }
  }
}

const started = performance.now();
const wanted = process.argv.slice(2);
const files = (wanted.length > 0 ? wanted : ROOMS).flatMap(sources);
await Promise.all(files.map(transpile));
copyScripts();
if (wanted.length === 0) removeStrays(files);
console.log(`built ${files.length} files in ${Math.round(performance.now() - started)} ms`);

// node tools/build.mjs [directory …]: transpiles every TypeScript file to dist/ in the same layout, and copies the scripts
// and JSON files beside them. swc rewrites the @runyard/* aliases to relative paths, so that dist/ runs on plain Node.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(import.meta.url);
const { transformFile } = require('@swc/core');
const { options } = require('../swc.config.cjs');

const root = path.resolve(import.meta.dirname, '..');
const ROOMS = ['apps', 'libs', 'deploy', 'bench', 'examples'];
const BUILT = /\.(ts|mjs|cjs|json)$/;
const SKIPPED =
  /(^|\/)(node_modules|e2e)\/|^apps\/console\/|^libs\/testing\/|\.(spec|d)\.ts$|(^|\/)project\.json$/;
const outputOf = (file) => file.replace(/\.ts$/, '.js');

/** @returns {string[]} paths relative to the root of the files below a directory that belong into dist/. */
function sources(directory) {
  const full = path.resolve(root, directory);
  if (!fs.existsSync(full)) return [];
  return fs
    .readdirSync(full, { recursive: true })
    .map((file) => path.relative(root, path.join(full, String(file))))
    .filter((file) => BUILT.test(file) && !SKIPPED.test(file));
}

async function put(file) {
  const out = path.join(root, 'dist', outputOf(file));
  fs.mkdirSync(path.dirname(out), { recursive: true });
  if (!file.endsWith('.ts')) return fs.copyFileSync(path.join(root, file), out);
  const { code, map } = await transformFile(path.join(root, file), options());
  fs.writeFileSync(out, `${code}\n//# sourceMappingURL=${path.basename(out)}.map\n`);
  if (map) fs.writeFileSync(`${out}.map`, map);
}

/** Removes what was built from a source that is gone: it must not live on in dist/ and be loaded from there. */
function removeStrays(built) {
  const expected = new Set(built.map(outputOf));
  for (const room of ROOMS) {
    const dist = path.join(root, 'dist', room);
    if (!fs.existsSync(dist)) continue;
    for (const entry of fs.readdirSync(dist, { recursive: true })) {
      const file = path.join(room, String(entry));
      if (/\.([mc]?js|json)(\.map)?$/.test(file) && !expected.has(file.replace(/\.map$/, ''))) {
        fs.rmSync(path.join(root, 'dist', file), { force: true });
      }
    }
  }
}

const started = performance.now();
const wanted = process.argv.slice(2);
const files = (wanted.length > 0 ? wanted : ROOMS).flatMap(sources);
await Promise.all(files.map(put));
if (wanted.length === 0) removeStrays(files);
console.log(`built ${files.length} files in ${Math.round(performance.now() - started)} ms`);

// Documents rot silently: links and the list of variables are checked here.
import fs from 'node:fs';
import path from 'node:path';

const root = path.resolve(__dirname, '..');
const SKIPPED = /(^|\/)(node_modules|dist|coverage|\.git|\.nx|\.runyard)(\/|$)/;

function filesBelow(folder: string, wanted: RegExp): string[] {
  return fs.readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(folder, entry.name);
    if (SKIPPED.test(file)) return [];
    if (entry.isDirectory()) return filesBelow(file, wanted);
    return wanted.test(entry.name) ? [file] : [];
  });
}

test('every relative link in a document leads to a file', () => {
  const broken = filesBelow('.', /\.md$/).flatMap((file) => {
    const text = fs.readFileSync(path.join(root, file), 'utf8');
    return [...text.matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g)]
      .map(([, link]) => String(link))
      .filter((link) => !fs.existsSync(path.join(root, path.dirname(file), link)))
      .map((link) => `${file}: ${link}`);
  });
  expect(broken).toEqual([]);
});

test('every variable that a service reads stands in docs/configuration.md', () => {
  const documented = fs.readFileSync(path.join(root, 'docs/configuration.md'), 'utf8');
  const missing = ['apps', 'libs']
    .flatMap((folder) => filesBelow(folder, /(^|\.)config\.ts$/))
    .flatMap((file) => {
      const code = fs.readFileSync(path.join(root, file), 'utf8');
      return [...code.matchAll(/^\s*([A-Z][A-Z0-9]*_[A-Z0-9_]+):/gm)].map(([, name]) => `${file}: ${name}`);
    })
    .filter((entry) => !documented.includes(`\`${entry.split(': ')[1]}\``));
  expect(missing).toEqual([]);
});

test('the map for newcomers stays short', () => {
  expect(fs.readFileSync(path.join(root, 'AGENTS.md'), 'utf8').split('\n').length).toBeLessThan(60);
});

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Names of the product's own metrics, as the code declares them. */
function declared(): string[] {
  const sources = ['apps', 'libs'].flatMap((room) =>
    readdirSync(join(ROOT, room), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts') && !file.includes('node_modules'))
      .map((file) => read(join(room, file))),
  );
  // A metric is declared with what it helps to see: by name and help, or by the two first arguments of a shorthand.
  const pattern = /'((?:runyard|gen_ai)_[a-z_]+)',\s+(?:help:\s*)?['"`][A-Z1]/g;
  return [
    ...new Set(sources.flatMap((text) => [...text.matchAll(pattern)].map(([, name]) => name ?? ''))),
  ].sort();
}

const BASE = /_(bucket|sum|count)$/;
const METRIC = /\b(?:runyard|gen_ai_client)_[a-z_]+\b/g;

it('every metric is explained, and nothing is explained that is not measured', () => {
  const explained = [
    ...read('docs/observability.md').matchAll(/^\| `((?:runyard|gen_ai)_[a-z_]+)` \|/gm),
  ].map(([, name]) => name);
  expect(declared().length).toBeGreaterThan(10);
  expect(explained.toSorted()).toEqual(declared());
});

it('the dashboard asks for metrics that exist', () => {
  const { panels } = JSON.parse(read('deploy/grafana/runyard.json')) as {
    panels: { targets: { expr: string }[] }[];
  };
  const known = new Set(declared());
  const asked = panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => expr.match(METRIC) ?? []));
  expect(asked.length).toBeGreaterThan(panels.length - 1);
  expect(asked.filter((name) => !known.has(name) && !known.has(name.replace(BASE, '')))).toEqual([]);
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROBLEMS } from '@runyard/contracts';
import { PROBLEM_CATALOGUE } from '../problems/problem-catalogue';
import { routeTable } from './controllers';
import { generatedDocuments } from './generated-documents';

const root = join(__dirname, '../../../..');

describe('documents made of the code', () => {
  test.each(Object.entries(generatedDocuments()))(
    '%s is what the code says; otherwise run node apps/gateway/generate.mjs',
    (name, text) => {
      expect(readFileSync(join(root, name), 'utf8')).toBe(text);
    },
  );

  test('every route is described once, with its refusals', () => {
    const document = JSON.parse(generatedDocuments()['docs/openapi.json']) as {
      paths: Record<string, Record<string, { operationId: string; responses: object }>>;
    };
    const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
    expect(operations).toHaveLength(routeTable().routes.length);
    expect(new Set(operations.map((operation) => operation.operationId)).size).toBe(operations.length);
    for (const { responses } of operations) expect(Object.keys(responses)).toContain('500');
  });

  test('every reference points at something that is there', () => {
    const text = generatedDocuments()['docs/openapi.json'];
    const { components } = JSON.parse(text) as { components: Record<string, Record<string, unknown>> };
    const references = [...text.matchAll(/"#\/components\/([^/"]+)\/([^"]+)"/g)];
    expect(references.length).toBeGreaterThan(50);
    for (const [, kind = '', name = ''] of references)
      expect(Object.keys(components[kind] ?? {})).toContain(name);
    expect(text).not.toContain('$defs');
    for (const schema of Object.values(components.schemas ?? {}))
      expect(Object.keys(schema as object)).not.toContain('$ref');
  });

  test('every problem code has a section', () => {
    const pages = generatedDocuments()['docs/problems.md'];
    for (const code of Object.keys(PROBLEMS)) expect(pages).toContain(`## ${code}\n`);
    expect(Object.keys(PROBLEM_CATALOGUE).sort()).toEqual(Object.keys(PROBLEMS).sort());
  });
});

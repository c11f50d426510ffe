import { routeTable } from './controllers';
import { ApiDescription } from '../openapi/api-description';
import { clientOperations } from '../openapi/client-operations';
import type { Described } from '../openapi/client-operations';
import { problemPages } from '../openapi/problem-pages';

const CLIENT = 'libs/client/src/operations.ts';

/** The generated files, by path; `apps/gateway/generate.mjs` writes them, a test compares them. */
export function generatedDocuments(): Record<
  'docs/openapi.json' | 'docs/problems.md' | typeof CLIENT,
  string
> {
  const text = `${JSON.stringify(new ApiDescription(routeTable().routes).document, null, 2)}\n`;
  return {
    'docs/openapi.json': text,
    'docs/problems.md': problemPages(),
    [CLIENT]: clientOperations(JSON.parse(text) as Described),
  };
}

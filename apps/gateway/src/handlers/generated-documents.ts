import { routeTable } from './controllers';
import { ApiDescription } from '../openapi/api-description';
import { problemPages } from '../openapi/problem-pages';

/** The generated files under docs/, by name; `apps/gateway/generate.mjs` writes them, a test compares them. */
export function generatedDocuments(): Record<string, string> {
  return {
    'openapi.json': `${JSON.stringify(new ApiDescription(routeTable().routes).document, null, 2)}\n`,
    'problems.md': problemPages(),
  };
}

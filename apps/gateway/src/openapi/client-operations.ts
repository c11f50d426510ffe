import { typeName, typeText } from './type-text';
import type { JsonSchema } from './json-schemas';

/** The part of an OpenAPI document that says what routes take and answer. */
export interface Described {
  paths: Record<string, Record<string, DescribedOperation>>;
  components: { schemas: Record<string, JsonSchema> };
}
interface DescribedOperation {
  summary?: string;
  parameters?: { name: string; in: string; required?: boolean; schema: JsonSchema }[];
  requestBody?: { required?: boolean; content: Record<string, { schema: JsonSchema }> };
  responses: Record<string, { content?: Record<string, { schema: JsonSchema }> }>;
}

const HEAD = `// Written by \`node apps/gateway/generate.mjs\` out of the description of the HTTP API; a test compares them.

`;

/** `libs/client/src/operations.ts`: the types of every route, for the client package. */
export function clientOperations({ paths, components }: Described): string {
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `export type ${typeName(name)} = ${typeText(schema, '')};\n`,
  );
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      operationText(method.toUpperCase(), path, operation),
    ),
  );
  return `${HEAD}${schemas.join('\n')}
/** Every route, with what it takes and what it answers. */
export interface Operations {
${operations.join('\n')}
}
`;
}

function operationText(method: string, path: string, operation: DescribedOperation): string {
  const of = (place: string) => (operation.parameters ?? []).filter((one) => one.in === place);
  const body = operation.requestBody?.content['application/json']?.schema;
  const lines = [
    `path: ${parametersText(of('path'))}`,
    `query: ${parametersText(of('query'))}`,
    `body${operation.requestBody?.required === true ? '' : '?'}: ${body ? typeText(body, '    ') : 'undefined'}`,
    `answer: ${answerText(operation)}`,
  ];
  const said = operation.summary ? `  /** ${operation.summary}. */\n` : '';
  return `${said}  ${JSON.stringify(`${method} ${path}`)}: {\n${lines.map((line) => `    ${line};`).join('\n')}\n  };`;
}

function parametersText(
  parameters: readonly { name: string; required?: boolean; schema: JsonSchema }[],
): string {
  const members = parameters.map(
    ({ name, required, schema }) => `${name}${required ? '' : '?'}: ${typeText(schema, '    ')}`,
  );
  return members.length > 0 ? `{ ${members.join('; ')} }` : '{}';
}

/** The answers of success; an empty one is undefined. */
function answerText({ responses }: DescribedOperation): string {
  const bodies = Object.entries(responses)
    .filter(([status]) => status.startsWith('2') && status !== '204')
    .map(([, { content }]) => content?.['application/json']?.schema)
    .map((schema) => (schema ? typeText(schema, '    ') : 'undefined'));
  return [...new Set(bodies)].join(' | ') || 'undefined';
}

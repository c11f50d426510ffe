import { lookUp } from './alternatives';
import type { SchemaDocument } from './alternatives';
import type { JsonSchema } from './json-schema';
import { schemaBreaks } from './schema-breaks';
import type { Break, Direction } from './schema-breaks';

interface Content {
  content?: Record<string, { schema?: JsonSchema }>;
}
interface Operation {
  parameters?: { name: string; in: string; required?: boolean; schema?: JsonSchema }[];
  requestBody?: Content & { required?: boolean };
  responses?: Record<string, Content & { $ref?: string }>;
  'x-roles'?: string[];
}
interface Pair {
  before: SchemaDocument;
  after: SchemaDocument;
}

/** What breaks for clients of the HTTP API between two descriptions of it. */
export function openApiBreaks(before: SchemaDocument, after: SchemaDocument): Break[] {
  const [olds, news] = [operationsOf(before), operationsOf(after)];
  return [...olds].flatMap(([name, old]) => {
    const now = news.get(name);
    return now ? operationBreaks(name, old, now, { before, after }) : [{ at: name, what: 'is gone' }];
  });
}

function operationsOf(document: SchemaDocument): Map<string, Operation> {
  const paths = (document.paths ?? {}) as Record<string, Record<string, Operation>>;
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]): [string, Operation] => [
        `${method.toUpperCase()} ${path}`,
        operation,
      ]),
    ),
  );
}

function operationBreaks(at: string, old: Operation, now: Operation, pair: Pair): Break[] {
  const roles = now['x-roles'];
  const shutOut = roles ? (old['x-roles'] ?? []).filter((role) => !roles.includes(role)) : [];
  return [
    ...shutOut.map((role) => ({ at, what: `is no longer open to the role ${role}` })),
    ...parameterBreaks(at, old, now, pair),
    ...bodyBreaks(at, old, now, pair),
    ...answerBreaks(at, old, now, pair),
  ];
}

function parameterBreaks(at: string, old: Operation, now: Operation, pair: Pair): Break[] {
  const key = (parameter: { in: string; name: string }) => `${parameter.in} ${parameter.name}`;
  const had = new Map((old.parameters ?? []).map((one) => [key(one), one]));
  const has = new Map((now.parameters ?? []).map((one) => [key(one), one]));
  const gone = [...had.keys()].filter((name) => !has.has(name));
  const demanded = [...has].filter(
    ([name, one]) => one.required === true && had.get(name)?.required !== true,
  );
  return [
    ...gone.map((name) => ({ at: `${at} ${name}`, what: 'is gone' })),
    ...demanded.map(([name]) => ({ at: `${at} ${name}`, what: 'is now required' })),
    ...[...had].flatMap(([name, one]) =>
      schemaPair(one.schema, has.get(name)?.schema, pair, 'in', `${at} ${name}`),
    ),
  ];
}

function bodyBreaks(at: string, old: Operation, now: Operation, pair: Pair): Break[] {
  if (!old.requestBody) return now.requestBody?.required ? [{ at, what: 'a body is now required' }] : [];
  if (!now.requestBody) return [{ at, what: 'no longer takes a body' }];
  const demanded = now.requestBody.required === true && old.requestBody.required !== true;
  return [
    ...(demanded ? [{ at, what: 'a body is now required' }] : []),
    ...contentBreaks(old.requestBody, now.requestBody, pair, 'in', `${at} body`),
  ];
}

/** Answers of success; refusals are problem documents and have a list of their own. */
function answerBreaks(at: string, old: Operation, now: Operation, pair: Pair): Break[] {
  return Object.entries(old.responses ?? {})
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([status, answer]) => {
      const next = now.responses?.[status];
      if (!next) return [{ at, what: `no longer answers ${status}` }];
      return contentBreaks(
        resolved(answer, pair.before),
        resolved(next, pair.after),
        pair,
        'out',
        `${at} ${status}`,
      );
    });
}

const resolved = (answer: Content & { $ref?: string }, document: SchemaDocument): Content =>
  answer.$ref === undefined ? answer : ((lookUp(document, answer.$ref) ?? {}) as Content);

function contentBreaks(old: Content, now: Content, pair: Pair, direction: Direction, at: string): Break[] {
  return Object.entries(old.content ?? {}).flatMap(([type, { schema }]) => {
    const next = now.content?.[type];
    if (!next) return [{ at, what: `${type} is gone` }];
    return schemaPair(schema, next.schema, pair, direction, at);
  });
}

const schemaPair = (
  old: JsonSchema | undefined,
  now: JsonSchema | undefined,
  pair: Pair,
  direction: Direction,
  at: string,
): Break[] => (old && now ? schemaBreaks(old, now, { ...pair, direction }, at) : []);

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { asyncApi, OTHER_TYPES } from './asyncapi';
import { eventPage } from './event-page';
import { CONTEXT_FACTS, eventTables } from './event-tables';
import { readTypes } from './read-types';

/** The generated files about the bus, by path; `tools/contracts/generate.mjs` writes them, a test compares them. */
export function busDocuments(root: string): Record<string, string> {
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  const contexts = [...eventTables()].map(([context, events]) => ({
    context,
    events,
    ...CONTEXT_FACTS[context],
  }));
  const read = readTypes(root, [...contexts.flatMap(({ events }) => events), ...OTHER_TYPES]);
  return {
    'docs/asyncapi.json': `${JSON.stringify(asyncApi(version, contexts, read), null, 2)}\n`,
    'docs/events.md': eventPage(contexts, read),
  };
}

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { asyncApi, OTHER_TYPES } from './asyncapi';
import { goldenText, withNewSamples } from './golden-events';
import type { GoldenEvents } from './golden-events';
import { eventPage } from './event-page';
import { CONTEXT_FACTS, eventTables } from './event-tables';
import { readTypes } from './read-types';

/** Samples of every version of every event; only ever added to. */
export const GOLDEN = 'tools/contracts/golden-events.json';

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
  const names = contexts.flatMap(({ events }) => events);
  const read = readTypes(root, [...names, ...OTHER_TYPES]);
  const document = asyncApi(version, contexts, read);
  const kept = JSON.parse(readFileSync(path.join(root, GOLDEN), 'utf8')) as GoldenEvents;
  return {
    'docs/asyncapi.json': `${JSON.stringify(document, null, 2)}\n`,
    'docs/events.md': eventPage(contexts, read),
    [GOLDEN]: goldenText(withNewSamples(kept, names, document)),
  };
}

import type { Probe } from './probe';
import { DOMAIN, HANDLERS, PROJECTIONS } from './probe';

const allow = (file: string, code: string, because: string): Probe => ({ file, code, because });

/** Files next to the border: a rule that reports them is wrong. */
export const ALLOWED: Probe[] = [
  allow('libs/contracts/src/index.ts', 'export const subjectOf = (id: string) => id;\n', 'a library'),
  allow(
    'libs/contracts/src/subjects.ts',
    'export const at = (id: string) => `runyard.runs.${id}`;\n',
    'subjects are built here',
  ),
  allow('libs/persistence/src/index.ts', 'export const cleanText = (text: string) => text;\n', 'a library'),
  allow(
    'libs/testing/src/index.ts',
    "import { subjectOf } from '@runyard/contracts';\nexport const subject = subjectOf('a');\n",
    'testing imports every library',
  ),
  allow(
    'libs/event-log/src/pull.ts',
    'declare const bus: { publish(subject: string): void };\nexport const pull = (name: string) => bus.publish(`$JS.API.${name}`);\n',
    "the server's own interface",
  ),
  allow(
    `${DOMAIN}/run.ts`,
    'export const day = (ms: number) => new Date(ms);\n',
    'a given instant is no clock',
  ),
  allow(
    `${DOMAIN}/turn.ts`,
    "import { subjectOf } from '@runyard/contracts';\nimport { day } from './run';\nexport const at = [subjectOf, day];\n",
    'contracts and itself',
  ),
  allow(
    `${PROJECTIONS}/runs.queries.ts`,
    "import { cleanText } from '@runyard/persistence';\nexport const page = cleanText('');\n",
    'persistence',
  ),
  allow(
    `${HANDLERS}/intake.consumer.ts`,
    "import { page } from '../projections/runs.queries';\nimport { day } from '../domain/run';\nexport const use = [page, day];\n",
    'own queries and domain',
  ),
  allow(
    'apps/alpha/src/config.ts',
    "export const url = process.env['DATABASE_URL'];\n",
    'the reader of the environment',
  ),
  allow(
    'apps/alpha/src/alpha.module.ts',
    "import { use } from './handlers/intake.consumer';\nexport const wired = use;\n",
    'wiring sees all of its app',
  ),
  allow(
    'deploy/local/host.ts',
    "import { wired } from '../../apps/alpha/src/alpha.module';\nexport const all = [wired];\n",
    'the launcher hosts modules',
  ),
  allow(
    `${DOMAIN}/turn.spec.ts`,
    "import { subject } from '@runyard/testing';\ntest('a', () => { expect(subject!).toBe('a'); });\n",
    'a spec imports testing',
  ),
];

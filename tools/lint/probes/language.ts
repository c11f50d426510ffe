import { DOMAIN, HANDLERS, PROJECTIONS, plant, statement, unique } from './probe';

// Split, so that a search for left-overs in the code does not stop at the planted ones.
const ANY = 'any';
const UNKNOWN = 'unknown';
const ONLY = 'only';
const SKIP = 'skip';

const pure = (code: string, because: string) =>
  plant('runyard/pure', unique(DOMAIN), `export const value = () => ${code};\n`, because);

export const PURITY_PROBES = [
  pure('Date.now()', 'a domain reads no clock'),
  pure('new Date()', 'a domain reads no clock'),
  pure('Date()', 'a domain reads no clock'),
  pure('performance.now()', 'a domain reads no clock'),
  pure('Math.random()', 'a domain knows no randomness'),
  pure('crypto.randomUUID()', 'a domain knows no randomness'),
  pure('setTimeout(() => undefined, 1)', 'a domain waits for nothing'),
  plant(
    'runyard/pure',
    `${PROJECTIONS}/runs.projection.ts`,
    'export const at = () => Date.now();\n',
    'a projection reads no clock',
  ),
  plant(
    'runyard/pure',
    unique('libs/contracts/src'),
    'export const at = () => Date.now();\n',
    'contracts read no clock',
  ),
];

const BUS = 'declare const bus: { publish(subject: string): void; subscribe(subject: string): void };\n';

export const LANGUAGE_PROBES = [
  statement(
    'node/no-process-env',
    'export const url = process.env.DATABASE_URL;',
    'the environment is read in config.ts only',
  ),
  statement(
    'runyard/across-orgs',
    'declare const db: { acrossOrgs(why: string): void };\ndb.acrossOrgs("sweep");',
    'listed files only',
  ),
  statement(
    'runyard/subjects',
    `${BUS}export const send = (id: string) => bus.publish(\`work.\${id}\`);`,
    'a raw id in a subject (C65)',
  ),
  statement(
    'runyard/subjects',
    `${BUS}export const listen = (id: string) => bus.subscribe('work.' + id);`,
    'a raw id in a subject (C65)',
  ),
  statement(
    'runyard/subjects',
    'export const subject = (id: string) => `runyard.work.${id}`;',
    'a subject built by hand (C65)',
  ),
  statement(
    'runyard/double-assertion',
    `export const n = "1" as ${UNKNOWN} as number;`,
    'the compiler is silenced',
  ),
  statement('typescript/no-explicit-any', `export const n: ${ANY} = 1;`, 'the compiler is silenced'),
  statement(
    'typescript/no-non-null-assertion',
    'export const n = (m: number | null) => m!;',
    'the compiler is silenced',
  ),
  statement(
    'typescript/no-floating-promises',
    'export const f = () => { Promise.resolve(1).then(() => 2); };',
    'nobody hears the failure',
  ),
  statement(
    'typescript/no-misused-promises',
    'export const f = (a: number[]) => { a.forEach(async () => { await Promise.resolve(); }); };',
    'nobody waits',
  ),
  statement('type-check', 'export const n: number = "1";', 'types are checked with the lint'),
  statement('max-lines', '// a line\n'.repeat(201), 'a file is 200 lines at most'),
  statement(
    'max-lines-per-function',
    `export function long(): void {\n${'  void 0;\n'.repeat(41)}}`,
    'a function is 40 lines at most',
  ),
  plant('max-lines', 'apps/alpha/src/main.ts', '// a line\n'.repeat(21), 'main.ts is 20 lines at most'),
  plant(
    'import/no-cycle',
    `${HANDLERS}/egg.ts`,
    "import { hen } from './hen';\nexport const egg = () => hen;\n",
    'a cycle of imports',
  ),
  plant(
    'import/no-cycle',
    `${HANDLERS}/hen.ts`,
    "import { egg } from './egg';\nexport const hen = () => egg;\n",
    'a cycle of imports',
  ),
  plant(
    'jest/no-focused-tests',
    `${HANDLERS}/only.spec.ts`,
    `test.${ONLY}('a', () => { expect(1).toBe(1); });\n`,
    'a focused test hides the rest',
  ),
  plant(
    'jest/no-disabled-tests',
    `${HANDLERS}/off.spec.ts`,
    `test.${SKIP}('a', () => { expect(1).toBe(1); });\n`,
    'a test that never runs',
  ),
];

import { z } from 'zod';

const verdictSchema = z.object({
  name: z.string(),
  passed: z.boolean(),
  faults: z.array(z.string()),
  run_id: z.string().nullable(),
  agent_id: z.string().nullable(),
  agent_version: z.int().nullable(),
  steps: z.int(),
  tokens: z.int(),
  seconds: z.number(),
});
export type Verdict = z.output<typeof verdictSchema>;

/** The report of a suite, as `--json` writes it and `eval compare` reads it. */
export const reportSchema = z.object({
  format: z.literal('runyard-eval/1'),
  suite: z.string(),
  cases: z.array(verdictSchema),
});
export type Report = z.output<typeof reportSchema>;

export const passedCount = ({ cases }: Report): number => cases.filter(({ passed }) => passed).length;

/** For people: a line a case, then what was wrong with it. */
export function reportLines(report: Report): string[] {
  const lines = report.cases.flatMap(({ name, passed, faults, run_id, agent_version, steps, tokens }) => [
    `${passed ? 'ok    ' : 'FAILED'} ${name}  (${run_id ?? 'no run'}, version ${agent_version ?? '–'}, ${steps} steps, ${tokens} tokens)`,
    ...faults.map((fault) => `         ${fault}`),
  ]);
  return [...lines, `${report.suite}: ${passedCount(report)} of ${report.cases.length} cases as expected`];
}

/** JUnit XML, for CI. */
export function junitOf(report: Report): string {
  const cases = report.cases.map(({ name, faults, passed, seconds }) => {
    const failure = passed
      ? ''
      : `<failure message="${xml(faults[0] ?? '')}">${xml(faults.join('\n'))}</failure>`;
    return `  <testcase classname="${xml(report.suite)}" name="${xml(name)}" time="${seconds.toFixed(3)}">${failure}</testcase>`;
  });
  const failures = report.cases.length - passedCount(report);
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="${xml(report.suite)}" tests="${report.cases.length}" failures="${failures}">
${cases.join('\n')}
</testsuite>
`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text of a model may hold anything; XML 1.0 has no place for control characters. */
const xml = (text: string): string =>
  text
    .replaceAll(/[^\P{Cc}\t\n\r]|[\ufffe\uffff]|\p{Surrogate}/gu, '\ufffd')
    .replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character);

/** What differs between two reports of a suite, case by case; `worse` counts cases that passed before and do not any more. */
export function comparisonOf(before: Report, after: Report): { lines: string[]; worse: number } {
  const old = new Map(before.cases.map((one) => [one.name, one]));
  const lines = after.cases.map((now) => {
    const was = old.get(now.name);
    const versions = `version ${was?.agent_version ?? '–'} → ${now.agent_version ?? '–'}`;
    const use = `steps ${was?.steps ?? '–'} → ${now.steps}, tokens ${was?.tokens ?? '–'} → ${now.tokens}`;
    return `${changeOf(was, now).padEnd(9)} ${now.name}  (${versions}, ${use})`;
  });
  const gone = before.cases.filter(({ name }) => !after.cases.some((one) => one.name === name));
  const worse = after.cases.filter((now) => !now.passed && old.get(now.name)?.passed === true).length;
  const sum = `${before.suite}: ${passedCount(before)} → ${passedCount(after)} cases as expected, ${worse} worse`;
  return { lines: [...lines, ...gone.map(({ name }) => `${'gone'.padEnd(9)} ${name}`), sum], worse };
}

function changeOf(was: Verdict | undefined, now: Verdict): string {
  if (!was) return now.passed ? 'new' : 'new FAIL';
  if (was.passed === now.passed) return now.passed ? 'same' : 'still bad';
  return now.passed ? 'better' : 'WORSE';
}

import { readFileSync } from 'node:fs';
import { MODES, TERMINATIONS, boundsSchema, parseWith } from '@runyard/contracts';
import { z } from 'zod';
import { CommandFailed } from '../terminal';

const names = z.array(z.string().min(1, 'must not be empty'));
const texts = z.array(z.string().min(1, 'must not be empty')).default([]);
const most = z.int('must be a whole number').min(0, 'must be at least 0').optional();
const pattern = z.string().refine(isPattern, 'must be a regular expression');

/** What a run must have been. Everything that is given must hold; nothing is expected of what is left out. */
export const expectationsSchema = z.strictObject({
  /** Calls that were made: these in this order among others, these in any order among others, or exactly these. */
  tools_called: z
    .union([
      z.strictObject({ in_order: names }),
      z.strictObject({ any_order: names }),
      z.strictObject({ exact: names }),
    ])
    .optional(),
  /** Tools that the model must not even have asked for. */
  tools_not_called: names.optional(),
  /** What may appear neither in the output nor in any argument of a call. */
  must_not_leak: z.strictObject({ strings: texts, patterns: z.array(pattern).default([]) }).optional(),
  termination: z.enum(TERMINATIONS).optional(),
  output: z
    .strictObject({
      equals: z.string().optional(),
      contains: texts,
      not_contains: texts,
      matches: z.array(pattern).default([]),
    })
    .optional(),
  limits: z.strictObject({ steps: most, tool_calls: most, tokens: most }).optional(),
});
export type Expectations = z.output<typeof expectationsSchema>;

const shared = { name: z.string().min(1, 'must not be empty').max(200), expect: expectationsSchema };
const liveCase = z.strictObject({
  ...shared,
  agent: z.string().min(1, 'must not be empty'),
  input: z.string().min(1, 'must not be empty'),
  bounds: boundsSchema.optional(),
  mode: z.enum(MODES).optional(),
});
/** A run that has ended already: nothing is started, its record is looked at. */
const recordedCase = z.strictObject({ ...shared, run: z.string().min(1, 'must not be empty') });

export const suiteSchema = z.strictObject({
  suite: z.string().min(1, 'must not be empty'),
  cases: z.array(z.union([liveCase, recordedCase])).min(1, 'must have at least one case'),
});
export type Suite = z.output<typeof suiteSchema>;
export type Case = Suite['cases'][number];

/** Reads a suite. Throws CommandFailed, or a Problem that names the field. */
export function readSuite(file: string): Suite {
  const suite = parseWith(suiteSchema, readJson(file), 'suite');
  const twice = suite.cases.map(({ name }) => name).find((name, at, all) => all.indexOf(name) !== at);
  if (twice !== undefined) throw new CommandFailed(`Two cases of the suite are named ${twice}`);
  return suite;
}

/** Throws CommandFailed where a file cannot be read or holds no JSON. */
export function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new CommandFailed(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}

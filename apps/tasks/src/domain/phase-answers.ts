import { holdOutputSchema, planOutputSchema, verdictOutputSchema } from '@runyard/contracts';
import type { HoldOutput, PlannedStep } from '@runyard/contracts';

// What a phase's run answered, read in the format that its prompt declared. Nothing is guessed: an answer that is not in
// the format is refused with the reason, which the next attempt is told.

export type Answer<T> =
  | { kind: 'answer'; value: T }
  | { kind: 'hold'; hold: HoldOutput }
  | { kind: 'unusable'; why: string };

export interface Verdict {
  accepted: boolean;
  reason: string;
  redo: number[];
}

interface Issue {
  path: PropertyKey[];
  message: string;
}
type Parsed<T> = { success: true; data: T } | { success: false; error: { issues: readonly Issue[] } };
interface Schema<T> {
  safeParse(value: unknown): Parsed<T>;
}

/** One JSON value, alone or in one fenced block: models put it there whatever they are asked. */
const FENCED = /^\s*(?:[^\n`]{0,200}\n)?\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/;

function jsonIn(text: string): { value: unknown } | { why: string } {
  const inner = FENCED.exec(text)?.[1] ?? text;
  try {
    return { value: JSON.parse(inner) as unknown };
  } catch {
    return { why: text.trim() === '' ? 'The answer is empty.' : 'The answer is not JSON alone.' };
  }
}

function read<T>(text: string | null, schema: Schema<T>): Answer<T> {
  if (text === null) return { kind: 'unusable', why: 'The answer was erased.' };
  const json = jsonIn(text);
  if ('why' in json) return { kind: 'unusable', why: json.why };
  const hold = holdOutputSchema.safeParse(json.value);
  if (hold.success) return { kind: 'hold', hold: hold.data };
  const parsed = schema.safeParse(json.value);
  if (parsed.success) return { kind: 'answer', value: parsed.data };
  const [issue] = parsed.error.issues;
  const at = issue?.path.length ? `"${issue.path.map(String).join('.')}"` : 'It';
  return { kind: 'unusable', why: `The answer is not in the format: ${at} ${issue?.message ?? 'is wrong'}.` };
}

export function readPlan(text: string | null, most: number): Answer<PlannedStep[]> {
  const plan = read(text, planOutputSchema);
  if (plan.kind !== 'answer') return plan;
  const { steps } = plan.value;
  if (steps.length > most)
    return {
      kind: 'unusable',
      why: `The plan has ${steps.length} steps; at most ${most} are left to be made.`,
    };
  return { kind: 'answer', value: steps };
}

/** Any text is a result, save one that says that it is none. */
export function readResult(text: string | null): { kind: 'answer' } | { kind: 'hold'; hold: HoldOutput } {
  const json = jsonIn(text ?? '');
  const hold = 'value' in json ? holdOutputSchema.safeParse(json.value) : undefined;
  return hold?.success ? { kind: 'hold', hold: hold.data } : { kind: 'answer' };
}

/** `redo` comes back sorted, each once; none named means all. */
export function readVerdict(text: string | null, steps: number): Answer<Verdict> {
  const verdict = read(text, verdictOutputSchema);
  if (verdict.kind !== 'answer') return verdict;
  const { accepted, reason, redo } = verdict.value;
  const beyond = redo.find((step) => step > steps);
  if (beyond !== undefined)
    return { kind: 'unusable', why: `There is no step ${beyond}; the plan has ${steps}.` };
  const all = Array.from({ length: steps }, (_, i) => i + 1);
  const named = all.filter((step) => redo.includes(step));
  return { kind: 'answer', value: { accepted, reason, redo: accepted ? [] : named.length ? named : all } };
}

import { setTimeout as wait } from 'node:timers/promises';
import { delegates } from '../src/handlers/e2e/family';
import { calls, ok } from '../src/handlers/e2e/script';
import type { Answer } from '../src/handlers/e2e/script';
import type { ToolResult } from '../src/tools/types';

/** Spec-only: what models and tools of the storm do: the same for the same run and step, whichever process asks. */

export interface Asked {
  /** Name of a root, or of a child: that of its parent, and its number. */
  input: string;
  step: number;
  maxOutputTokens: number;
}

/** Generations below a root. */
const DEEPEST = 3;
const LAST_STEP = 4;
const TOOLS = ['look', 'put', 'write'];

/** From 0 up to 1, by the words alone. */
function drawn(...words: (string | number)[]): number {
  let hash = 0x811c9dc5;
  for (const letter of words.join('/')) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
}

export async function modelAnswer({ input, step, maxOutputTokens }: Asked): Promise<Answer> {
  const draw = (what: string): number => drawn(input, step, what);
  await wait(10 + draw('pause') ** 3 * 250);
  const output = Math.floor(draw('output') ** 2 * maxOutputTokens);
  const usage = { input: 1 + Math.floor(draw('input') * 300), output, cached: 0, estimated: false };
  const depth = input.split('.').length - 1;
  const kind = step >= LAST_STEP ? 1 : draw('kind');
  if (depth < DEEPEST && (kind < 0.5 - depth * 0.12 || (depth === 0 && step === 1))) {
    const tasks = Array.from({ length: 1 + Math.floor(draw('width') * 3) }, (_, n) => `${input}.${step}${n}`);
    return { ...(draw('purse') < 0.3 ? cheaply(tasks) : delegates(...tasks)), usage };
  }
  if (kind < 0.65) return { ...calls([TOOLS[Math.floor(draw('tool') * 3)] ?? '', '{}']), usage };
  if (kind < 0.7) return { failure: { code: 'provider_invalid', retryable: false } };
  return { text: `answer to ${input}`, usage };
}

const cheaply = (tasks: string[]): Answer =>
  calls(...tasks.map((task): [string, string] => ['ask_cheaply', JSON.stringify({ task })]));

export async function toolAnswer(): Promise<ToolResult> {
  await wait(20);
  return ok('done');
}

/** A whole number, `most` not among them. */
export const between = (least: number, most: number): number =>
  Math.floor(least + Math.random() * (most - least));

/** Any one of them, or undefined where there is none. */
export const oneOf = <T>(list: readonly T[]): T | undefined => list[Math.floor(Math.random() * list.length)];

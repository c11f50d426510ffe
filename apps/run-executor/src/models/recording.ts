import { parseWith } from '@runyard/contracts';
import { z } from 'zod';

const text = z.string();
const count = z.int().min(0);

/** What must have been said since the turn before: `text` exactly, or anything (`any: true`). */
const expectation = z.union([
  z.strictObject({ role: z.enum(['user', 'tool']), text }),
  z.strictObject({ role: z.enum(['user', 'tool']), any: z.literal(true) }),
]);

/** A failed attempt in place of the turn. */
const scriptedFailure = z.union([
  z.strictObject({
    status: z.int().min(300).max(599),
    message: text.default(''),
    retry_after_ms: count.optional(),
  }),
  z.strictObject({ error: text, message: text.default(''), after_text: text.optional() }),
  z.strictObject({ cut_after: text }),
]);

const turnSchema = z.strictObject({
  expect: z.array(expectation).optional(),
  text: text.nullable().default(null),
  reasoning: text.nullable().default(null),
  tool_calls: z.array(z.strictObject({ id: text.default(''), tool: text, arguments: text })).default([]),
  finish: z.enum(['stop', 'tool_calls', 'length', 'content_filter', 'refusal', 'other']).optional(),
  provider_reason: text.optional(),
  usage: z.strictObject({ input: count, output: count, cached: count.default(0) }).optional(),
  model: text.optional(),
  delay_ms: count.default(0),
  failures: z.array(scriptedFailure).default([]),
  repeat: z.int().min(1).optional(),
});

/** The format is described in README.md. */
export const recordingSchema = z.strictObject({
  format: z.literal('runyard-recording/1'),
  model: text.optional(),
  dialogs: z
    .array(
      z.strictObject({ name: text.optional(), system: text.optional(), turns: z.array(turnSchema).min(1) }),
    )
    .min(1),
});

export type Recording = z.output<typeof recordingSchema>;
export type RecordedDialog = Recording['dialogs'][number];
export type RecordedTurn = z.output<typeof turnSchema>;
export type ScriptedFailure = z.output<typeof scriptedFailure>;

/** Parses a recording or throws a Problem `invalid_request` that names the place. */
export const parseRecording = (value: unknown): Recording => parseWith(recordingSchema, value, 'recording');

/** A dialog whose repeated turns are written out one at a time, so that thousands of turns need no giant file. */
export class DialogScript {
  /** First turn number (from 0) of each entry. */
  private readonly starts: number[] = [];
  readonly length: number;

  constructor(readonly dialog: RecordedDialog) {
    let length = 0;
    for (const turn of dialog.turns) {
      this.starts.push(length);
      length += turn.repeat ?? 1;
    }
    this.length = length;
  }

  /** Turn `index` (from 0); undefined after the last. In repeated turns `{step}` stands for index + 1. */
  turn(index: number): RecordedTurn | undefined {
    if (index >= this.length) return undefined;
    let low = 0;
    let high = this.starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.starts[middle] ?? 0) <= index) low = middle;
      else high = middle - 1;
    }
    const turn = this.dialog.turns[low];
    return turn?.repeat === undefined ? turn : filledIn(turn, String(index + 1));
  }
}

function filledIn(turn: RecordedTurn, step: string): RecordedTurn {
  const fill = (value: string): string => value.replaceAll('{step}', step);
  return {
    ...turn,
    text: turn.text === null ? null : fill(turn.text),
    reasoning: turn.reasoning === null ? null : fill(turn.reasoning),
    tool_calls: turn.tool_calls.map((call) => ({
      ...call,
      id: fill(call.id),
      arguments: fill(call.arguments),
    })),
    ...(turn.expect
      ? { expect: turn.expect.map((said) => ('text' in said ? { ...said, text: fill(said.text) } : said)) }
      : {}),
  };
}

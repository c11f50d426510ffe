import { z } from 'zod';
import { parseWith, type Json, type JsonObject } from '@runyard/contracts';

const json: z.ZodType<Json> = z.json();

const callSchema = z.strictObject({
  tool: z.string(),
  /** What the tool must be called with; the order of keys is all the same. */
  arguments: z.record(z.string(), json),
  /** What it answered, whole. */
  result: z.string(),
  /** True: it answered with an error. */
  failed: z.boolean().default(false),
});

const calls = z.array(callSchema);

const format = z.literal('runyard-tool-recording/1');

/** A file holds one dialog (`calls`) or many (`dialogs`, each with a name). Described in README.md. */
const singleSchema = z.strictObject({ format, calls });
const manySchema = z.strictObject({
  format,
  dialogs: z.array(z.strictObject({ name: z.string().min(1), calls })).min(1),
});

export type RecordedCall = z.output<typeof callSchema>;

/** A parsed recording; dialogs by name, or the only one. */
export interface ToolRecording {
  only: readonly RecordedCall[] | undefined;
  dialogs: ReadonlyMap<string, readonly RecordedCall[]>;
}

/** Parses a recording or throws a Problem `invalid_request` that names the place. */
export function parseToolRecording(content: unknown): ToolRecording {
  const value: unknown = typeof content === 'string' ? JSON.parse(content) : content;
  if (typeof value !== 'object' || value === null || !('dialogs' in value)) {
    return { only: parseWith(singleSchema, value, 'recording').calls, dialogs: new Map() };
  }
  const { dialogs } = parseWith(manySchema, value, 'recording');
  const byName = new Map(dialogs.map((dialog) => [dialog.name, dialog.calls]));
  return { only: dialogs.length === 1 ? dialogs[0]?.calls : undefined, dialogs: byName };
}

/**
 * The calls of one dialog: of the name asked for, else of the name that the conversation's id is or begins with
 * ("task-7-2" finds "task-7", and "task-7-2" before it), else of the only dialog.
 */
export function dialogOf(
  recording: ToolRecording,
  name: string | undefined,
  conversationId: string | null,
): readonly RecordedCall[] | undefined {
  if (name !== undefined) return recording.dialogs.get(name);
  for (let id = conversationId ?? ''; id !== ''; id = id.slice(0, Math.max(0, id.lastIndexOf('-')))) {
    const found = recording.dialogs.get(id);
    if (found) return found;
  }
  return recording.only;
}

/** The first place where two values part, as JSON Pointer with both values; undefined where they are equal. */
export function differenceOf(expected: Json, actual: Json, pointer = ''): string | undefined {
  if (isObject(expected) && isObject(actual)) {
    const keys = [...new Set([...Object.keys(expected), ...Object.keys(actual)])];
    return first(keys, (key) => {
      const [was, is] = [own(expected, key), own(actual, key)];
      if (was !== undefined && is !== undefined) return differenceOf(was, is, `${pointer}/${key}`);
      return `${pointer}/${key}: recorded ${shown(was)}, called with ${shown(is)}`;
    });
  }
  if (Array.isArray(expected) && Array.isArray(actual) && expected.length === actual.length) {
    return first([...expected.keys()], (i) =>
      differenceOf(expected[i] ?? null, actual[i] ?? null, `${pointer}/${i}`),
    );
  }
  if (Object.is(expected, actual)) return undefined;
  return `${pointer || 'the arguments'}: recorded ${shown(expected)}, called with ${shown(actual)}`;
}

const own = (object: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined;
const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const shown = (value: Json | undefined): string => {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
};

function first<T>(items: readonly T[], find: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

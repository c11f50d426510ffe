import { Ajv } from 'ajv';
import type { ValidateFunction } from 'ajv';
import { MAX_EDITED, Problem } from '@runyard/contracts';
import type { Json, JsonObject, StoredText, ToolDefinition } from '@runyard/contracts';
import { digestOf } from '@runyard/event-log';
import type { Blobs } from '@runyard/persistence';

const INLINE_BYTES = 16 * 1024;
const PREVIEW_CHARACTERS = 2_000;

/** Arguments that a reviewer wrote instead of the proposed ones. */
export interface Edited {
  text: StoredText;
  digest: string;
}

/**
 * Checks a reviewer's arguments against the schema of the tool as the run has it, and stores them. Throws `invalid_request`
 * with a pointer to each place that does not fit: what the tool would refuse is refused here, while somebody is there.
 */
export async function editedArguments(
  org: string,
  given: Json,
  tool: ToolDefinition | undefined,
  blobs: Pick<Blobs, 'put'>,
): Promise<Edited> {
  if (!tool)
    throw refusal([
      { pointer: '/arguments', detail: 'cannot be checked: the tool of the run is not known any more' },
    ]);
  const errors = errorsOf(tool.inputSchema, given);
  if (errors.length) throw refusal(errors);
  const text = JSON.stringify(given);
  if (text.length > MAX_EDITED)
    throw refusal([{ pointer: '/arguments', detail: `must be at most ${MAX_EDITED} characters` }]);
  return { text: await storedText(org, text, blobs), digest: digestOf(given) };
}

/** A text of an event: large ones are stored by digest before the event that names them (P9.4). */
export async function storedText(org: string, text: string, blobs: Pick<Blobs, 'put'>): Promise<StoredText> {
  const bytes = Buffer.byteLength(text);
  if (bytes <= INLINE_BYTES) return { text };
  return { preview: text.slice(0, PREVIEW_CHARACTERS), digest: await blobs.put(org, text), bytes };
}

interface FieldError {
  pointer: string;
  detail: string;
}

function errorsOf(schema: JsonObject, given: Json): FieldError[] {
  const check = compiled(schema);
  if (check(given)) return [];
  return (check.errors ?? []).slice(0, 20).map(({ instancePath, message }) => ({
    pointer: `/arguments${instancePath}`,
    detail: message ?? 'does not fit the schema of the tool',
  }));
}

/** A compiler of its own each time: schemas of different orgs may carry the same `$id`. */
function compiled(schema: JsonObject): ValidateFunction {
  const { $schema: _draft, ...body } = schema;
  return new Ajv({ strict: false, allErrors: true, logger: false, validateFormats: false }).compile(body);
}

function refusal(errors: FieldError[]): Problem {
  const [first] = errors;
  return new Problem('invalid_request', `The arguments are not valid: ${first?.pointer} ${first?.detail}`, {
    errors,
  });
}

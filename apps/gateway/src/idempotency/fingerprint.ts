import { Problem } from '@runyard/contracts';
import { digestOf } from '@runyard/event-log';

const MAX_KEY = 255;

/**
 * The key of an `Idempotency-Key` header, plain or as a quoted string (the draft's form). Undefined where there is no
 * header. Throws `invalid_request` for one that is empty, too long or not printable ASCII.
 */
export function idempotencyKeyOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const key = /^"((?:[^"\\]|\\["\\])*)"$/.exec(text)?.[1]?.replaceAll(/\\(["\\])/g, '$1') ?? text;
  if (key.length > 0 && key.length <= MAX_KEY && /^[\x20-\x7e]+$/.test(key)) return key;
  const detail = `must be 1 to ${MAX_KEY} printable ASCII characters`;
  throw new Problem('invalid_request', `Idempotency-Key ${detail}`, {
    errors: [{ pointer: '/Idempotency-Key', detail }],
  });
}

/** Equal for requests that say the same, whatever the order of their members: SHA-256 over method, path, query and body. */
export function fingerprintOf(request: {
  method: string;
  path: string;
  query: unknown;
  body: unknown;
}): string {
  const { method, path, query, body } = request;
  return digestOf({ method, path, query, body: body ?? null });
}

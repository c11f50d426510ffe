import { createHash, hash } from 'node:crypto';

/**
 * JSON with sorted keys and no white space, so that equal values have equal text (the scheme of RFC 8785: keys by
 * UTF-16 code units, numbers as ECMAScript writes them). `undefined` members are left out. Throws on what JSON cannot say.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value))
    return `[${value.map((item) => canonicalJson(item === undefined ? null : item)).join(',')}]`;
  if (typeof value === 'object' && value !== null) return canonicalObject(value as Record<string, unknown>);
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${value} has no JSON form`);
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError(`A ${typeof value} has no JSON form`);
  return text;
}

function canonicalObject(object: Record<string, unknown>): string {
  const members = Object.keys(object)
    .filter((key) => object[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(object[key])}`);
  return `{${members.join(',')}}`;
}

/** SHA-256 over the canonical JSON of a value, in hex. */
export const digestOf = (value: unknown): string => hash('sha256', canonicalJson(value));

const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz';
const ID_LENGTH = 26;

/** Run id of an org's idempotency key: the same request names the same run for ever (domain, section 4). */
export const runIdOf = (org: string, key: string): string => derivedId('run', org, key);

/**
 * Approval id of one question about a call: the same question names the same approval, however often it is asked after a crash.
 * `question` tells apart what may be asked of one call: its kind and attempt.
 */
export const approvalIdOf = (runId: string, callId: string, question: string): string =>
  derivedId('apr', runId, callId, question);

/** An id that follows from its parts: `<prefix>_` and 26 characters of lower-case Crockford base32 of their SHA-256. */
export function derivedId(prefix: string, ...parts: string[]): string {
  const digest = createHash('sha256').update(parts.join('\0')).digest();
  let bits = 0;
  let value = 0;
  let text = '';
  for (const byte of digest) {
    value = ((value << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= 5 && text.length < ID_LENGTH) {
      bits -= 5;
      text += CROCKFORD[(value >> bits) & 31];
    }
  }
  return `${prefix}_${text}`;
}

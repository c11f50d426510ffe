import { createHash } from 'node:crypto';

/** Key of an advisory lock, as text of an int8: 64 bits of a hash, so that names from different places do not meet by accident. */
export function lockKey(...parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\0')).digest().readBigInt64BE(0).toString();
}

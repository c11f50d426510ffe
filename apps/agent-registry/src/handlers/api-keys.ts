import { createHash, randomBytes } from 'node:crypto';
import { API_KEY_RANDOM_LENGTH, BASE62, apiKeyOf } from '@runyard/contracts';

/** A fresh key. The key itself is shown once and kept nowhere; `hash` is what is stored. */
export interface NewKey {
  keyId: string;
  key: string;
  hash: string;
}

export function newKey(): NewKey {
  const key = apiKeyOf(randomText(API_KEY_RANDOM_LENGTH, BASE62));
  return {
    keyId: `key_${randomText(20, BASE62.slice(0, 10) + BASE62.slice(36))}`,
    key,
    hash: createHash('sha256').update(key).digest('hex'),
  };
}

/** Uniform: bytes beyond the largest multiple of the alphabet's length are thrown away. */
function randomText(length: number, alphabet: string): string {
  const most = 256 - (256 % alphabet.length);
  let text = '';
  while (text.length < length)
    for (const byte of randomBytes(length))
      if (byte < most && text.length < length) text += alphabet.charAt(byte % alphabet.length);
  return text;
}

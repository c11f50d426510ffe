/**
 * An API key: `ry_live_<random>_<checksum>`. Underscores, so that a double click selects all of it; a checksum, so
 * that a mistyped or cut key is refused without asking anybody. The checksum keeps no secret: anyone can compute it.
 */
export const API_KEY_PREFIX = 'ry_live_';

/** Characters of the random part: 43 out of 62 hold 256 bits. */
export const API_KEY_RANDOM_LENGTH = 43;

export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const SHAPE = /^ry_live_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/;

/** The key around a random part of {@link API_KEY_RANDOM_LENGTH} characters out of {@link BASE62}. */
export function apiKeyOf(random: string): string {
  return `${API_KEY_PREFIX}${random}_${apiKeyChecksum(random)}`;
}

/** CRC-32 (IEEE 802.3) of the random part as six base62 digits. */
export function apiKeyChecksum(random: string): string {
  let crc = 0xffffffff;
  for (let i = 0; i < random.length; i++) {
    crc ^= random.charCodeAt(i) & 0xff;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  let rest = (crc ^ 0xffffffff) >>> 0;
  let digits = '';
  for (let i = 0; i < 6; i++) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** True for a text that could be a key: shape and checksum hold. Says nothing about whether the key exists. */
export function looksLikeApiKey(text: string): boolean {
  if (!SHAPE.test(text)) return false;
  const random = text.slice(API_KEY_PREFIX.length, API_KEY_PREFIX.length + API_KEY_RANDOM_LENGTH);
  return text.endsWith(`_${apiKeyChecksum(random)}`);
}

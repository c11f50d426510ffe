/** What the model is shown of one observation, in bytes of UTF-8; the whole is stored. Larger ones crowd out the dialog (C27). */
export const SHOWN_BYTES = 16 * 1024;
/** The most that is read of any tool's output, whatever its source. Beyond it a result is cut and marked `too_large`. */
export const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

const REPLACEMENT = '\uFFFD';
// With the u flag a pair is one code point, so only halves without their other half match.
const LONE_SURROGATE = /\p{Surrogate}/gu;

/** Replaces lone surrogates visibly (U+FFFD): strict providers refuse every later turn that holds one (C27). */
export function wellFormed(text: string): string {
  return text.replace(LONE_SURROGATE, REPLACEMENT);
}

export interface Shortened {
  /** Well-formed; at most `limitBytes` bytes of UTF-8, the note included. */
  text: string;
  cut: boolean;
}

/**
 * What the model sees of a long text: its beginning, cut between code points, and a note that says how much is left out
 * and that the whole is stored. Text within the limit comes back as it is (made well formed).
 */
export function shorten(text: string, limitBytes: number = SHOWN_BYTES): Shortened {
  const whole = wellFormed(text);
  const bytes = Buffer.byteLength(whole);
  if (bytes <= limitBytes) return { text: whole, cut: false };
  // The note's own length depends on the number in it; the longest form of it is reserved.
  const room = limitBytes - Buffer.byteLength(note(bytes, bytes));
  if (room <= 0) return { text: head(whole, Math.max(0, limitBytes)), cut: true };
  const shown = head(whole, room);
  return { text: shown + note(bytes - Buffer.byteLength(shown), bytes), cut: true };
}

const note = (left: number, bytes: number): string =>
  `\n[cut: ${left} of ${bytes} bytes are left out here; the whole text is stored with the run]`;

/** The longest beginning of a well-formed text that takes at most `limitBytes` bytes, never ending inside a code point. */
export function head(text: string, limitBytes: number): string {
  // A UTF-16 unit is at least one byte: no need to encode more than that many units.
  const bytes = Buffer.from(text.slice(0, limitBytes + 1));
  if (bytes.length <= limitBytes) return wellFormed(text.slice(0, limitBytes + 1));
  let end = limitBytes;
  while (end > 0 && isContinuation(bytes[end])) end -= 1;
  return bytes.toString('utf8', 0, end);
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

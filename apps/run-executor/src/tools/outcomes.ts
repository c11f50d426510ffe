import { head, MAX_OUTPUT_BYTES, wellFormed } from './text';
import type { ToolFailure, ToolFailureCode, ToolResult } from './types';

/** The tool answered; more than {@link MAX_OUTPUT_BYTES} comes back cut, as `too_large`. */
export function succeeded(text: string): ToolResult {
  const bytes = Buffer.byteLength(text);
  return bytes > MAX_OUTPUT_BYTES ? tooLarge(text, MAX_OUTPUT_BYTES) : { ok: true, text: wellFormed(text) };
}

/** An error that the tool itself reported: it answered, so nothing is uncertain. */
export const toolError = (text: string, transient = false, retryAfterMs?: number): ToolFailure => {
  const bounded = head(wellFormed(text), MAX_OUTPUT_BYTES);
  return {
    ...failed('tool_error', bounded, 'none', transient),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
};

/** The definition cannot be carried out in this deployment; neither the model nor a retry can help. */
export const misconfigured = (text: string): ToolFailure => failed('misconfigured', text, 'none', false);

/** A rule of ours forbids the call; nothing was sent. */
export const refused = (text: string): ToolFailure => failed('refused', text, 'none', false);

/** The failure provably precedes sending (P4.1). */
export const notSent = (text: string): ToolFailure => failed('not_sent', text, 'none', true);

/** Sent, and then the connection broke: it may have happened. */
export const broken = (text: string): ToolFailure => failed('connection', text, 'unknown', true);

/** Sent, and no answer within the tool's time-out: it may have happened, and may still be happening. */
export const timedOut = (timeoutMs: number): ToolFailure =>
  failed(
    'timeout',
    `The tool did not answer within ${timeoutMs / 1_000} s. It was told to stop, but may have done its work.`,
    'unknown',
    true,
  );

/** Our own abort (cancel, pause, deadline). */
export const cancelled = (sent: boolean): ToolFailure =>
  failed(
    'cancelled',
    sent
      ? 'The call was cancelled while the tool was working.'
      : 'The call was cancelled before it was sent.',
    sent ? 'unknown' : 'none',
    false,
  );

/** The call was carried out and answered with more than may be read; what was read is shown. */
export function tooLarge(read: string, limitBytes: number): ToolFailure {
  const text = `The tool answered with more than ${limitBytes} bytes; the rest was not read. Ask it for less. The answer begins:\n`;
  return failed('too_large', text + head(wellFormed(read), limitBytes), 'none', false);
}

function failed(
  code: ToolFailureCode,
  text: string,
  effect: ToolFailure['effect'],
  transient: boolean,
): ToolFailure {
  return { ok: false, code, text: wellFormed(text), effect, transient };
}

/** Text of anything that was thrown, on one line and short enough for a message. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  return head(wellFormed(text.replace(/\s+/g, ' ').trim()), 500);
}

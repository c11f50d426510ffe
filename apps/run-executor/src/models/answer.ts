import type { ModelTurn } from './types';
import type { ReportedUsage } from './token-usage';
import { fieldsOf, textOf } from './wire-json';

/** An error that a provider put inside an answer with status 200, in the provider's words. */
export interface WireError {
  /** Error type or code as sent; '' where there is none. */
  type: string;
  message: string;
  /** HTTP-like status that the error itself names. */
  status: number | null;
}

/** The turn without what only the caller knows. */
export type AnswerContent = Omit<ModelTurn, 'usage' | 'model' | 'providerState'>;

/**
 * Collects one answer from what a provider sends. Nothing that was sent is changed: argument texts stay byte for byte,
 * null stays apart from '', reasons stay in the provider's words.
 */
export interface AnswerReader {
  /** One event of a stream. */
  takeEvent(payload: unknown): WireError | null;
  /** A whole answer that was not streamed, though a stream was asked for. */
  takeWhole(payload: unknown): WireError | null;
  /** The provider said that the answer is complete. Without it nothing is final (C21). */
  readonly finished: boolean;
  /** Nothing of interest follows; the rest of the body need not be awaited. */
  readonly closed: boolean;
  /** Text so far; null: none was sent. */
  readonly text: string | null;
  /** Upper bound of the tokens delivered so far: UTF-8 bytes of texts, names and arguments, + 16 per call. */
  readonly deliveredBytes: number;
  /** Model name as reported; '' where none was. */
  readonly model: string;
  /** What was reported last; null: nothing. */
  readonly usage: ReportedUsage | null;
  content(): AnswerContent;
  /** What must go back with this turn (JSON value); null: nothing. */
  state(): object | null;
}

/** An error object in whatever shape a provider uses: `{message, type, code, status}`, or a bare text. */
export function wireError(value: unknown): WireError {
  const error = fieldsOf(value);
  if (!error) return { type: '', message: textOf(value) ?? 'unknown error', status: null };
  const code = error['code'];
  const status = [error['status_code'], error['status'], code].map(Number).find((n) => n >= 400 && n < 600);
  const words = [textOf(error['type']), textOf(code)].filter((word) => word);
  return {
    type: words.join(' '),
    message: textOf(error['message']) ?? JSON.stringify(value),
    status: status ?? null,
  };
}

export const malformed = (message: string): WireError => ({
  type: 'malformed_answer',
  message,
  status: null,
});

import type { TokenUsage } from '@runyard/contracts';
import type { WireError } from './answer';
import type { ModelFailure } from './types';
import { fieldsOf, parseJson, textOf } from './wire-json';

/** Longest text of a failure; some endpoints answer with whole pages. */
const LONGEST_TEXT = 1_000;

/** Statuses after which the same request may succeed: time-out, conflict, too early, rate limit, any server trouble. */
const TRANSIENT = new Set([408, 409, 425, 429]);

export function failure(
  code: ModelFailure['code'],
  text: string,
  more: Partial<Omit<ModelFailure, 'code' | 'text'>> = {},
): ModelFailure {
  return {
    code,
    text: text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text,
    status: null,
    retryable: false,
    retryAfterMs: null,
    partialText: null,
    usage: null,
    ...more,
  };
}

/** What a status other than 2xx means. `body` is the answer's body as text. */
export function statusFailure(status: number, body: string, retryAfterMs: number | null): ModelFailure {
  const said = messageOf(body);
  const text = `The provider answered ${status}${said === '' ? '' : `: ${said}`}`;
  return failure(codeOf(status), text, { status, retryable: isTransient(status, body), retryAfterMs });
}

function codeOf(status: number): ModelFailure['code'] {
  if (status === 401 || status === 402 || status === 403) return 'provider_auth';
  if (status === 429) return 'rate_limited';
  return isTransient(status, '') ? 'provider_unavailable' : 'provider_invalid';
}

/** An account without money answers 429 as well, and goes on doing so. */
const isTransient = (status: number, body: string): boolean =>
  (TRANSIENT.has(status) || status >= 500) && !body.includes('insufficient_quota');

/** Error words of providers, in the order of their weight, and the statuses that they stand for. */
const WORDS: readonly [RegExp, number][] = [
  [/auth|api_key|permission|billing|credit/i, 401],
  [/rate_limit|too_many_requests|insufficient_quota|quota/i, 429],
  [/overloaded|unavailable|timeout|server_error|api_error/i, 503],
  [/invalid|not_found|too_large|context_length|unsupported|content_filter|tool_use_failed/i, 400],
];

/** What had arrived of an answer before its error. */
export interface Delivered {
  text: string | null;
  usage: TokenUsage;
  /** Some of the answer itself was delivered, not only its frame. */
  begun: boolean;
}

/**
 * What an error inside an answer with status 200 means (C21). After content it is an interruption: the text is kept, but
 * not final. Words that nobody knows count as trouble of the server, which may pass.
 */
export function wireFailure(error: WireError, status: number, delivered: Delivered | null): ModelFailure {
  const text = `The provider broke off with an error: ${error.type === '' ? '' : `${error.type}: `}${error.message}`;
  const more = { status, partialText: delivered?.text ?? null, usage: delivered?.usage ?? null };
  // A garbled stream is the network's or a proxy's doing: the next one may be whole.
  if (error.type === 'malformed_answer')
    return failure('provider_invalid', error.message, { ...more, retryable: true });
  const meant = error.status ?? WORDS.find(([word]) => word.test(error.type))?.[1] ?? 503;
  const retryable = isTransient(meant, error.type);
  return failure(delivered?.begun ? 'interrupted' : codeOf(meant), text, { ...more, retryable });
}

/** Codes of connections that failed for good: name, certificate or address are wrong. */
const LASTING = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|INVALID_URL/;

/** A connection that failed before the provider answered anything. */
export function connectionFailure(error: unknown, host: string): ModelFailure {
  const cause = causeOf(error);
  return failure('provider_unavailable', `Could not reach ${host}: ${cause}`, {
    retryable: !LASTING.test(cause),
  });
}

/** The innermost reason of an error; fetch itself only says "fetch failed". */
export function causeOf(error: unknown): string {
  const fields = fieldsOf(error);
  if (!fields) return String(error);
  if (fields['cause'] != null) return causeOf(fields['cause']);
  const code = typeof fields['code'] === 'string' ? `${fields['code']} ` : '';
  return `${code}${typeof fields['message'] === 'string' ? fields['message'] : ''}`.trim() || 'unknown error';
}

/**
 * How long a provider asks to wait, in milliseconds: `retry-after-ms`, or `retry-after` in seconds or as a date. A date is
 * compared with the answer's own `date`, so that the clocks need not agree.
 */
export function retryAfterOf(headers: Headers, now: () => number): number | null {
  const exact = Number(headers.get('retry-after-ms') ?? NaN);
  if (exact >= 0) return Math.ceil(exact);
  const asked = headers.get('retry-after');
  if (asked === null || asked.trim() === '') return null;
  const seconds = Number(asked);
  if (seconds >= 0) return Math.ceil(seconds * 1_000);
  const at = Date.parse(asked);
  const sent = Date.parse(headers.get('date') ?? '');
  return Number.isNaN(at) ? null : Math.max(0, at - (Number.isNaN(sent) ? now() : sent));
}

/** The words of an error body: `{error: {message}}`, `{error: "…"}`, `{message}`, `{detail}`, else the body itself. */
function messageOf(body: string): string {
  const fields = fieldsOf(parseJson(body));
  const error = fields?.['error'];
  const inner = fieldsOf(error);
  const said = inner?.['message'] ?? error ?? fields?.['message'] ?? fields?.['detail'] ?? body;
  // A router says what it did, and its `raw` what the provider behind it said.
  const behind = textOf(fieldsOf(inner?.['metadata'])?.['raw']);
  const words = typeof said === 'string' ? said : JSON.stringify(said);
  return (behind === null ? words : `${words}: ${behind}`).replace(/\s+/g, ' ').trim();
}

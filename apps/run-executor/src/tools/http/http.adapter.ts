import { STATUS_CODES } from 'node:http';
import type { ToolSource } from '@runyard/contracts';
import { Attempt } from '../attempt';
import { succeeded, tooLarge, toolError } from '../outcomes';
import { credential, redacted } from '../secrets';
import { MAX_OUTPUT_BYTES } from '../text';
import type { SecretReader, ToolCall, ToolResult } from '../types';
import { readBody, textOf } from './body';
import type { HttpRules } from './destination';
import type { HttpAnswer } from './exchange';
import { followed } from './redirects';
import { fillRequest } from './request-template';

type HttpSource = Extract<ToolSource, { kind: 'http' }>;

export interface HttpTools extends HttpRules {
  /** Most bytes read of an answer, after decompression. */
  maxBytes: number;
  secrets: SecretReader;
  now: () => number;
}

/** Statuses after which the same request may succeed. */
const TRANSIENT = new Set([408, 425, 429, 500, 502, 503, 504]);
/** Said by something in front of the service, which may have done the work all the same. */
const FROM_A_GATEWAY = new Set([502, 504]);

/** One attempt at an HTTP tool. Never throws. */
export async function runHttp(call: ToolCall, source: HttpSource, tools: HttpTools): Promise<ToolResult> {
  const secret = await credential(tools.secrets, call.org, source.credential);
  if (!secret.ok) return secret;
  const filled = fillRequest(source, call.arguments, call.idempotencyKey, secret.value);
  if (!filled.ok) return filled;
  const attempt = new Attempt(call.signal, call.tool.timeoutMs);
  try {
    const answer = await followed(filled.request, tools, attempt.signal);
    attempt.sent = true;
    return redacted(await resultOf(answer, tools), secret);
  } catch (error) {
    return redacted(attempt.failure(error), secret);
  } finally {
    attempt.end();
  }
}

async function resultOf(answer: HttpAnswer, tools: HttpTools): Promise<ToolResult> {
  const { status, headers } = answer;
  const limit = Math.min(tools.maxBytes, MAX_OUTPUT_BYTES);
  // An error whose text broke off is an answer all the same.
  const body = await readBody(answer, limit).catch((error: unknown) => {
    if (status >= 400) return { bytes: Buffer.alloc(0), cut: false };
    throw error;
  });
  const text = textOf(body, headers['content-type']);
  if (status < 200 || status >= 400)
    return toolError(
      errorText(status, text),
      TRANSIENT.has(status),
      retryAfter(headers['retry-after'], tools.now()),
    );
  if (body.cut) return tooLarge(text, limit);
  return succeeded(text || `(HTTP ${status}, no content)`);
}

function errorText(status: number, body: string): string {
  const doubt = FROM_A_GATEWAY.has(status)
    ? '\n(Said by a gateway; the request may have been carried out all the same.)'
    : '';
  return `Error: HTTP ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd() + doubt + (body && `\n${body}`);
}

/** `Retry-After` in milliseconds: seconds, or a date. */
function retryAfter(value: string | string[] | undefined, now: number): number | undefined {
  if (typeof value !== 'string') return undefined;
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - now;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

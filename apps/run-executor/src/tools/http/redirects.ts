import type { HttpRules } from './destination';
import { exchange, type HttpAnswer, type HttpRequest } from './exchange';
import { AfterSending, BeforeSending, Forbidden } from '../exchange.errors';

/** A longer chain is a loop. */
export const MAX_REDIRECTS = 5;

/** Headers that may go to another origin; everything else could be a credential of the first. */
const PORTABLE = new Set(['accept', 'accept-encoding', 'content-type', 'user-agent', 'idempotency-key']);

/**
 * An exchange with redirects followed by us, each hop checked like the first. Throws like `exchange`; once a hop has
 * carried out a write (it answered 301, 302 or 303), every later failure is AfterSending.
 */
export async function followed(
  request: HttpRequest,
  rules: HttpRules,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  let hop = request;
  let carriedOut = false;
  for (let redirects = 0; ; redirects += 1) {
    try {
      const answer = await exchange(hop, rules, signal);
      const target = targetOf(answer, hop.url);
      if (!target) return answer;
      answer.body.on('error', () => {}).destroy();
      carriedOut ||= hop.method !== 'GET' && answer.status < 307;
      if (redirects === MAX_REDIRECTS) throw new Forbidden(`more than ${MAX_REDIRECTS} redirects`);
      hop = next(hop, target, answer.status);
    } catch (error) {
      const early = error instanceof Forbidden || error instanceof BeforeSending;
      throw early && carriedOut ? new AfterSending(`after a redirect: ${error.message}`) : error;
    }
  }
}

function targetOf({ status, headers }: HttpAnswer, from: URL): URL | undefined {
  const location = headers['location'];
  if (![301, 302, 303, 307, 308].includes(status) || typeof location !== 'string') return undefined;
  const target = URL.canParse(location, from.href) ? new URL(location, from.href) : undefined;
  if (!target) throw new Forbidden('the server redirects to something that is not a URL');
  return target;
}

function next(hop: HttpRequest, url: URL, status: number): HttpRequest {
  if (hop.url.protocol === 'https:' && url.protocol === 'http:')
    throw new Forbidden('redirect from https to http');
  const becomesGet = status < 307 && (hop.method === 'POST' || status === 303);
  const sameOrigin = url.origin === hop.url.origin;
  const kept = Object.entries(hop.headers).filter(
    ([name]) => (sameOrigin || PORTABLE.has(name)) && !(becomesGet && name === 'content-type'),
  );
  const headers = Object.fromEntries(kept);
  if (becomesGet) return { url, method: 'GET', headers };
  return { url, method: hop.method, headers, ...(hop.body !== undefined && { body: hop.body }) };
}

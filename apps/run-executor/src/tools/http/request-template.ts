import type { Json, JsonObject, ToolSource } from '@runyard/contracts';
import { misconfigured, refused } from '../outcomes';
import { wellFormed } from '../text';
import type { ToolFailure } from '../types';
import type { HttpRequest } from './exchange';

type HttpSource = Extract<ToolSource, { kind: 'http' }>;
export type Filled = { ok: true; request: HttpRequest } | ToolFailure;

const PLACEHOLDER = /\{([^{}]*)\}/g;
/** These frame the message or name its destination; a definition that sets them would send something else than we checked. */
const OWN_HEADERS = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'keep-alive',
  'idempotency-key',
]);

/**
 * Makes the request of an HTTP tool: placeholders of the URL are filled with encoded arguments, the remaining arguments go
 * to the query (GET, DELETE) or the JSON body. An argument can never change the host, nor leave its path segment.
 */
export function fillRequest(
  source: HttpSource,
  given: JsonObject,
  idempotencyKey: string,
  token?: string,
): Filled {
  const template = templateOf(source.url);
  if (!template)
    return misconfigured(
      'The URL of this tool is not valid: it must be http(s), without placeholders in scheme and host.',
    );
  const wrong = Object.entries(source.headers ?? {}).find(([name, value]) => !mayBeSet(name, value, token));
  if (wrong) return misconfigured(`This tool may not set the header ${wrong[0]}, or not to this value.`);
  const used = new Set<string>();
  const unfit: string[] = [];
  const filled = source.url.replace(PLACEHOLDER, (_, name: string) => {
    used.add(name);
    const value = segment(Object.hasOwn(given, name) ? given[name] : undefined);
    if (value === undefined) unfit.push(name);
    return encodeURIComponent(value ?? '');
  });
  if (unfit.length > 0) {
    return refused(
      `Error: nothing was sent: ${unfit.join(', ')} must be a non-empty text, number or boolean, and not "." or "..".`,
    );
  }
  const url = new URL(filled);
  if (url.origin !== template.origin || depthOf(url) !== depthOf(template)) {
    return refused(
      'Error: nothing was sent: the arguments would lead to another place than this tool is for.',
    );
  }
  const rest = Object.entries(given).filter(([name]) => !used.has(name));
  return { ok: true, request: withRest(source, url, rest, headersOf(source, idempotencyKey, token)) };
}

function mayBeSet(name: string, value: string, token: string | undefined): boolean {
  if (OWN_HEADERS.has(name.toLowerCase()) || (token !== undefined && name.toLowerCase() === 'authorization'))
    return false;
  return /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}

/** The URL with a plain word in every placeholder; undefined where it is no URL or its origin is not fixed. */
function templateOf(text: string): URL | undefined {
  const [first, second] = ['x', 'y'].map((word) => text.replace(PLACEHOLDER, word));
  if (first === undefined || second === undefined || !URL.canParse(first) || !URL.canParse(second))
    return undefined;
  const url = new URL(first);
  const fixed =
    url.origin === new URL(second).origin && (url.protocol === 'http:' || url.protocol === 'https:');
  return fixed && !url.username && !url.password ? url : undefined;
}

const depthOf = (url: URL): number => url.pathname.split('/').length;

function segment(value: Json | undefined): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return undefined;
  const text = wellFormed(String(value));
  // "." and ".." would be taken out by URL parsing, encoded or not; an empty one would name the collection above.
  return text === '' || text === '.' || text === '..' ? undefined : text;
}

function headersOf(source: HttpSource, idempotencyKey: string, token?: string): Record<string, string> {
  const own = Object.entries(source.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    accept: 'application/json, text/*;q=0.9, */*;q=0.1',
    'user-agent': 'runyard',
    ...Object.fromEntries(own),
    'accept-encoding': 'gzip, deflate, br',
    'idempotency-key': idempotencyKey,
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
}

function withRest(
  source: HttpSource,
  url: URL,
  rest: [string, Json][],
  headers: Record<string, string>,
): HttpRequest {
  const { method } = source;
  if (method !== 'GET' && method !== 'DELETE') {
    // JSON escapes lone surrogates, so any argument has a body.
    return {
      url,
      method,
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(Object.fromEntries(rest)),
    };
  }
  for (const [name, value] of rest) {
    for (const item of Array.isArray(value) ? value : [value]) url.searchParams.append(name, queryText(item));
  }
  return { url, method, headers };
}

const queryText = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

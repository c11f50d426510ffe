import { Readable } from 'node:stream';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { AfterSending, AnswerTooLarge } from '../exchange.errors';
import type { HttpRules } from '../http/destination';
import { exchange } from '../http/exchange';
import { MAX_MESSAGE_BYTES, RESUME_MS } from './limits';
import { KEY_IN_META, type Link, type StreamWatch } from './link';

/** A session is deleted at the server, but nobody waits long for that. */
const GOODBYE_MS = 2_000;

type Verdict = { broke(): void; tooLarge(): void };

/** Streamable HTTP under the address rules of HTTP tools, with limits on what is read. */
export function httpLink(url: URL, headers: Record<string, string>, rules: HttpRules): Link {
  const watched = new Map<string, Verdict>();
  const transport = new StreamableHTTPClientTransport(url, {
    requestInit: { headers },
    reconnectionOptions: {
      initialReconnectionDelay: 200,
      maxReconnectionDelay: 1_000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 3,
    },
    fetch: (target, init) => guardedFetch(new URL(target), init ?? {}, rules, watched),
  });
  return {
    transport,
    watch: (key) => watch(key, watched),
    async end(client: Client) {
      const goodbye = transport.terminateSession().catch(() => {});
      let timer: NodeJS.Timeout | undefined;
      await Promise.race([goodbye, new Promise((resolve) => (timer = setTimeout(resolve, GOODBYE_MS)))]);
      clearTimeout(timer);
      await client.close();
    },
  };
}

function watch(key: string, watched: Map<string, Verdict>): ReturnType<StreamWatch> {
  let timer: NodeJS.Timeout | undefined;
  const failed = new Promise<never>((_, reject) => {
    watched.set(key, {
      // The SDK goes on with a resumable stream by itself; a call that is still open afterwards is lost.
      broke: () =>
        (timer ??= setTimeout(() => reject(new AfterSending('the stream of the answer ended')), RESUME_MS)),
      tooLarge: () => reject(new AnswerTooLarge(MAX_MESSAGE_BYTES)),
    });
  });
  failed.catch(() => {});
  return {
    failed,
    end: () => {
      clearTimeout(timer);
      watched.delete(key);
    },
  };
}

/** `fetch` as the SDK needs it, over `exchange`: checked addresses, no redirects (the SDK follows them within the origin). */
async function guardedFetch(
  url: URL,
  init: RequestInit,
  rules: HttpRules,
  watched: Map<string, Verdict>,
): Promise<Response> {
  const body = typeof init.body === 'string' ? init.body : undefined;
  const request = {
    url,
    method: init.method ?? 'GET',
    headers: Object.fromEntries(new Headers(init.headers)),
    ...(body !== undefined && { body }),
  };
  const answer = await exchange(request, rules, init.signal ?? new AbortController().signal);
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) {
    for (const one of Array.isArray(value) ? value : value === undefined ? [] : [value])
      headers.append(name, one);
  }
  if (answer.status === 204 || answer.status === 304) {
    answer.body.resume();
    return new Response(null, { status: answer.status, headers });
  }
  return new Response(
    limited(answer.body, () => watched.get(keyOf(body))),
    { status: answer.status, headers },
  );
}

/** The body as a web stream that ends the watched call where it breaks, ends early or grows too large. */
function limited(body: Readable, verdict: () => Verdict | undefined): ReadableStream<Uint8Array> {
  let size = 0;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > MAX_MESSAGE_BYTES) throw new AnswerTooLarge(MAX_MESSAGE_BYTES);
        yield new Uint8Array(chunk);
      }
    } catch (error) {
      if (error instanceof AnswerTooLarge) verdict()?.tooLarge();
      throw error;
    } finally {
      verdict()?.broke();
      body.on('error', () => {}).destroy();
    }
  }
  return ReadableStream.from(chunks());
}

/** The idempotency key of the call that a request carries; empty: it carries none. */
function keyOf(body: string | undefined): string {
  if (!body?.includes(KEY_IN_META)) return '';
  try {
    const message = JSON.parse(body) as { params?: { _meta?: Record<string, unknown> } };
    const key = message.params?._meta?.[KEY_IN_META];
    return typeof key === 'string' ? key : '';
  } catch {
    return '';
  }
}

import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ModelRoute, ToolDefinition } from '@runyard/contracts';
import type { ModelRequest } from './types';
import type { Fields } from './wire-json';

/** For specs only: an answer of a provider that runs on this machine. */
export interface FakeAnswer {
  status?: number;
  headers?: Record<string, string>;
  /** Written one after the other, each as a network chunk of its own. */
  body: readonly (string | Uint8Array)[];
  /** Break the connection instead of ending the answer. */
  cut?: boolean;
  /** Leave the connection open and silent. */
  hang?: boolean;
}

export interface ReceivedRequest {
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
  body: Fields;
}

export interface FakeProvider extends AsyncDisposable {
  url: string;
  received: ReceivedRequest[];
  /** Connections that were opened so far. */
  connections(): number;
}

export type Script = (request: ReceivedRequest, number: number) => FakeAnswer;

/** A provider that answers by script; `using` ends it. */
export async function startProvider(script: Script): Promise<FakeProvider> {
  const received: ReceivedRequest[] = [];
  const server = createServer((message, response) => {
    const parts: Buffer[] = [];
    message.on('data', (part: Buffer) => parts.push(part));
    message.on('end', () => {
      const text = Buffer.concat(parts).toString();
      const request = {
        path: message.url ?? '',
        headers: message.headers,
        text,
        body: JSON.parse(text || '{}'),
      };
      received.push(request);
      void answer(response, script(request, received.length));
    });
  });
  let connections = 0;
  server.on('connection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    connections: () => connections,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  response: ServerResponse,
  { status, headers, body, cut, hang }: FakeAnswer,
): Promise<void> {
  response.on('error', () => undefined);
  response.writeHead(status ?? 200, headers ?? { 'content-type': 'text/event-stream' });
  response.flushHeaders();
  for (const [index, part] of body.entries()) {
    await new Promise<void>((resolve) => response.write(part, () => resolve()));
    // One turn of the loop, so that parts leave as chunks of their own.
    if (index < body.length - 1) await new Promise((resolve) => setImmediate(resolve));
  }
  if (hang) return;
  if (cut) response.destroy();
  else response.end();
}

/** Events as an event stream; texts stand as they are. */
export const sse = (...events: readonly (object | string)[]): string =>
  events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join('');

/** Anthropic names its events, too. */
export const named = (...events: readonly { type: string }[]): string =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');

export const KEY = 'sk-test-0123456789abcdef';

export function openAiRoute(url: string, model = 'gpt-test'): ModelRoute {
  return {
    ...route(model),
    provider: { kind: 'openai-compatible', baseUrl: `${url}/v1`, credential: 'OPENAI' },
  };
}

export function anthropicRoute(url: string, model = 'claude-test'): ModelRoute {
  return { ...route(model), provider: { kind: 'anthropic', baseUrl: url, credential: 'ANTHROPIC' } };
}

export const recordedRoute = (recording: string): ModelRoute => ({
  ...route('recorded'),
  provider: { kind: 'recorded', recording },
});

const route = (model: string): Omit<ModelRoute, 'provider'> => ({
  modelId: 'm1',
  label: 'Model',
  tier: 'fast',
  model,
  contextWindow: 100_000,
  maxOutputTokens: 1_000,
});

export const tool = (name: string): ToolDefinition => ({
  name,
  description: `The tool ${name}`,
  inputSchema: { type: 'object', properties: { q: { type: 'string' } } },
  effect: 'read',
  idempotent: true,
  source: { kind: 'builtin', name },
  timeoutMs: 1_000,
  endsRun: false,
});

export const request = (to: ModelRoute, more: Partial<ModelRequest> = {}): ModelRequest => ({
  route: to,
  system: 'You help.',
  messages: [{ role: 'user', text: 'Hello' }],
  tools: [tool('grep')],
  maxOutputTokens: 500,
  signal: new AbortController().signal,
  ...more,
});

import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
} from '@modelcontextprotocol/sdk/types.js';
import type { ToolSchema } from '../tau-bench/source';
import { WRITES, callTool } from './tools';
import type { World } from './world';

/** Under this name Runyard sends a call's idempotency key: `<run id>:<call id>`. */
const KEY = 'runyard/idempotency-key';

export interface AirlineOptions {
  /** As they were published. */
  schemas: readonly ToolSchema[];
  /** The world that a call is about; `key` is empty where the client sends none. */
  worldOf: (key: string) => World | Promise<World>;
  port?: number;
}

/** A call that was carried out; `at` in epoch milliseconds. */
export interface CarriedOut {
  key: string;
  tool: string;
  arguments: object;
  at: number;
}

export interface RunningAirline {
  url: string;
  /** Calls that were carried out; a repetition with the same key is answered as before and not counted. */
  carriedOut(): CarriedOut[];
  /** How often a call arrived, by its key; repetitions count. */
  arrived(): ReadonlyMap<string, { tool: string; times: number }>;
  /** What a call was answered; undefined: it never arrived. */
  answerTo(key: string): string | undefined;
  stop(): Promise<void>;
}

/** The airline as an MCP server over HTTP, without sessions: each request stands for itself, the worlds are what stays. */
export async function startAirline(options: AirlineOptions): Promise<RunningAirline> {
  const desk = new Desk(options);
  const http = createServer((request, response) => void serve(desk, request, response));
  await new Promise<void>((resolve) => http.listen(options.port ?? 0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    carriedOut: () => desk.carriedOut,
    arrived: () => desk.arrived,
    answerTo: (key) => desk.answerTo(key),
    stop: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  };
}

async function serve(desk: Desk, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') return void response.writeHead(405, { allow: 'POST' }).end();
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: undefined,
    enableJsonResponse: true,
  });
  const server = serverFor(desk);
  response.on('close', () => void server.close());
  // The transport's own type says less of what may be undefined than the one that it implements.
  await server.connect(transport as Transport);
  await transport.handleRequest(request, response);
}

function serverFor(desk: Desk): Server {
  const server = new Server({ name: 'airline', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: desk.tools() }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const key = params._meta?.[KEY];
    const text = await desk.call(params.name, params.arguments ?? {}, typeof key === 'string' ? key : '');
    return { content: [{ type: 'text' as const, text }] };
  });
  return server;
}

/** Answers calls, each key once: whoever repeats a call is told what came of it. */
class Desk {
  readonly carriedOut: CarriedOut[] = [];
  readonly arrived = new Map<string, { tool: string; times: number }>();
  private readonly answers = new Map<string, string>();

  constructor(private readonly options: AirlineOptions) {}

  tools() {
    return this.options.schemas.map(({ function: { name, description, parameters } }) => ({
      name,
      description,
      inputSchema: { ...parameters, type: 'object' as const },
      annotations: { readOnlyHint: !WRITES.test(name), idempotentHint: true, openWorldHint: false },
    }));
  }

  answerTo(key: string): string | undefined {
    return this.answers.get(key);
  }

  async call(tool: string, given: object, key: string): Promise<string> {
    this.arrived.set(key, { tool, times: (this.arrived.get(key)?.times ?? 0) + 1 });
    const world = await this.options.worldOf(key);
    const before = key === '' ? undefined : this.answers.get(key);
    if (before !== undefined) return before;
    const answer = callTool(world, tool, given);
    if (answer === undefined) throw new McpError(ErrorCode.InvalidParams, `There is no tool ${tool}`);
    this.carriedOut.push({ key, tool, arguments: given, at: Date.now() });
    this.answers.set(key, answer);
    return answer;
  }
}

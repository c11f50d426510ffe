import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ToolResult } from '../../tools/types';
import type { Answer } from './script';

/** Spec-only: models and tools of executors in processes of their own. What arrives here has happened. */
export interface OutsideCall {
  what: 'model' | 'tool';
  pid: number;
  at: number;
  /** Of model calls: what the run was asked, and which turn it is. */
  input: string;
  step: number;
  maxOutputTokens: number;
  /** Of tool calls. */
  runId: string;
  callId: string;
  idempotencyKey: string;
  tool: string;
}

export interface OutsideServer extends AsyncDisposable {
  url: string;
  received: OutsideCall[];
}

export async function outsideServer(
  answer: (call: OutsideCall) => Promise<Answer | ToolResult>,
): Promise<OutsideServer> {
  const received: OutsideCall[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const call = {
        ...(JSON.parse(await textOf(request)) as OutsideCall),
        what: (request.url ?? '').slice(1) as OutsideCall['what'],
        at: Date.now(),
      };
      received.push(call);
      response.end(JSON.stringify(await answer(call)));
    })().catch(() => response.destroy());
  });
  // A process that stood still must not find its idle connections closed: that is another case.
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

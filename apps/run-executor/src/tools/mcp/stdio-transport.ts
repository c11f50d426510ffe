import { deserializeMessage, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { BeforeSending } from '../exchange.errors';
import { reasonOf } from '../outcomes';
import { MAX_MESSAGE_BYTES, TOO_LARGE } from './limits';
import { type LongLine, MessageLines } from './message-lines';
import type { ServerProcess } from './server-process';

/**
 * MCP over the pipes of a process that we started ourselves: the SDK's own transport neither ends what the server started
 * nor says whether a message was sent.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  constructor(private readonly server: ServerProcess) {}

  async start(): Promise<void> {
    const lines = new MessageLines(
      MAX_MESSAGE_BYTES,
      (line) => this.received(line),
      (line) => this.tooLarge(line),
    );
    this.server.onOutput((chunk) => lines.push(chunk));
    this.server.onExit(() => this.onclose?.());
    // It may have ended before anybody listened.
    if (!this.server.alive) throw new BeforeSending(`the server ended (${this.server.outcome})`);
  }

  /** Throws BeforeSending: a message whose last byte, the line's end, the pipe did not take cannot have been read. */
  async send(message: JSONRPCMessage): Promise<void> {
    if (!this.server.alive) throw new BeforeSending(`the server has ended (${this.server.outcome})`);
    await this.server.write(serializeMessage(message)).catch((error: unknown) => {
      throw new BeforeSending(`the server has ended (${reasonOf(error)})`);
    });
  }

  async close(): Promise<void> {
    await this.server.end();
    this.onclose?.();
  }

  private received(line: string): void {
    if (line.trim() === '') return;
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(line);
    } catch (error) {
      // Servers print all sorts of things; what is no message is not ours.
      this.onerror?.(new Error(`not a message: ${reasonOf(error)}`));
      return;
    }
    this.onmessage?.(message);
  }

  /** Answers in the server's place, so that the call ends at once and the others go on. */
  private tooLarge({ start, end }: LongLine): void {
    const id =
      /"id":\s*(\d+)\s*\}?\s*$/.exec(end)?.[1] ??
      /^\s*\{(?:"jsonrpc":\s*"2\.0",\s*)?"id":\s*(\d+)/.exec(start)?.[1];
    if (id === undefined)
      this.onerror?.(new Error(`a message of more than ${MAX_MESSAGE_BYTES} bytes was dropped`));
    else
      this.onmessage?.({ jsonrpc: '2.0', id: Number(id), error: { code: TOO_LARGE, message: 'too large' } });
  }
}

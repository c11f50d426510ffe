import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ListToolsResultSchema, McpError } from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject } from '@runyard/contracts';
import type { Attempt } from '../attempt';
import { AfterSending, Answered, AnswerTooLarge, BeforeSending, ExchangeError } from '../exchange.errors';
import { reasonOf } from '../outcomes';
import type { ToolLog } from '../types';
import { callResultSchema, type CallResult } from './content';
import { KEY_IN_META, type Link } from './link';
import { CONNECT_TIMEOUT_MS, MAX_MESSAGE_BYTES, MAX_TOOL_PAGES, TOO_LARGE } from './limits';

/** The SDK's own limit must never strike first: time is the attempt's. */
const NO_LIMIT_MS = 2 ** 31 - 1;
/** Statuses by which servers say that they do not know the session (any more): nothing was carried out. */
const SESSION_UNKNOWN = new Set([400, 404]);
const TRANSIENT = new Set([408, 425, 429, 500, 502, 503, 504]);

export interface OfferedTool {
  name: string;
  description?: string | undefined;
  inputSchema: unknown;
  annotations?: { readOnlyHint?: boolean | undefined; idempotentHint?: boolean | undefined } | undefined;
}

/** One initialised connection to an MCP server. */
export class McpSession {
  private ended: Promise<void> | undefined;
  private markEnded: () => void = () => {};
  /** Resolves when nothing of it is left. */
  readonly whenEnded = new Promise<void>((resolve) => (this.markEnded = resolve));
  private lost = false;
  /** Calls under way. */
  private calls = 0;
  private retiring = false;
  lastUsed = performance.now();

  private constructor(
    private readonly client: Client,
    private readonly link: Link,
  ) {}

  /** Connects and initialises. Throws like an exchange; then nothing is left running. */
  static async open(link: Link, server: string, log: ToolLog): Promise<McpSession> {
    const client = new Client({ name: 'runyard', version: '1' }, { capabilities: {} });
    const session = new McpSession(client, link);
    client.onclose = () => {
      session.lost = true;
      // What a dead server started may live on.
      session.retire();
    };
    // Among these: answers that come after their call was given up.
    client.onerror = (error) =>
      log.warn({ server, reason: reasonOf(error) }, 'MCP session: odd or late message');
    try {
      await client.connect(link.transport, { timeout: CONNECT_TIMEOUT_MS });
    } catch (error) {
      await session.end();
      throw session.meaning(error, true);
    }
    return session;
  }

  /** May take further calls. */
  get usable(): boolean {
    return !this.lost && !this.retiring && this.ended === undefined;
  }

  get busy(): boolean {
    return this.calls > 0;
  }

  /** One `tools/call`. Throws BeforeSending, AfterSending, Answered, AnswerTooLarge; on abort the server is told to stop. */
  async call(
    tool: string,
    given: JsonObject,
    meta: Readonly<Record<string, string>>,
    attempt: Attempt,
  ): Promise<CallResult> {
    if (!this.usable) throw new BeforeSending('the server has ended');
    const params = { name: tool, arguments: given, _meta: meta };
    const options = { signal: attempt.signal, timeout: NO_LIMIT_MS, onprogress: () => attempt.alive() };
    const broken = this.link.watch?.(meta[KEY_IN_META] ?? '');
    this.calls += 1;
    attempt.sent = true;
    try {
      const answer = this.client.request({ method: 'tools/call', params }, callResultSchema, options);
      return await (broken ? Promise.race([answer, broken.failed]) : answer);
    } catch (error) {
      // Whoever was told to stop may not have: nobody else shall share its process (C28).
      const meaning = attempt.signal.aborted ? new AfterSending('aborted') : this.meaning(error, false);
      if (meaning instanceof AfterSending) this.retire();
      throw meaning;
    } finally {
      broken?.end();
      this.release();
    }
  }

  /** Every tool the server offers. */
  async tools(signal: AbortSignal): Promise<OfferedTool[]> {
    const found: OfferedTool[] = [];
    this.calls += 1;
    try {
      let cursor: string | undefined;
      for (let page = 0; page < MAX_TOOL_PAGES; page += 1) {
        const params = cursor === undefined ? {} : { cursor };
        const listed = await this.client.request({ method: 'tools/list', params }, ListToolsResultSchema, {
          signal,
          timeout: CONNECT_TIMEOUT_MS,
        });
        found.push(...listed.tools);
        cursor = listed.nextCursor;
        if (cursor === undefined) break;
      }
      return found;
    } catch (error) {
      throw this.meaning(error, false);
    } finally {
      this.release();
    }
  }

  /** No further calls; ends as soon as those under way have. */
  retire(): void {
    this.retiring = true;
    if (!this.busy) void this.end();
  }

  /** Ends the connection and the server's process tree. Safe to call again. */
  end(): Promise<void> {
    this.ended ??= this.link
      .end(this.client)
      .catch(() => {})
      .finally(this.markEnded);
    return this.ended;
  }

  private release(): void {
    this.calls -= 1;
    this.lastUsed = performance.now();
    if (this.retiring && !this.busy) void this.end();
  }

  private meaning(error: unknown, connecting: boolean): Error {
    if (error instanceof ExchangeError) return error;
    if (error instanceof StreamableHTTPError) return this.statusMeaning(error, connecting);
    if (error instanceof McpError && error.code === TOO_LARGE) return new AnswerTooLarge(MAX_MESSAGE_BYTES);
    if (error instanceof McpError && !this.lost && !connecting) return new Answered(error.message, false);
    const reason = reasonOf(error);
    return connecting ? new BeforeSending(`the server cannot be used (${reason})`) : new AfterSending(reason);
  }

  private statusMeaning({ code = 0, message }: StreamableHTTPError, connecting: boolean): Error {
    if (connecting && TRANSIENT.has(code)) return new BeforeSending(reasonOf(message));
    // A new session may mend these; the pool makes one.
    if (!connecting && (SESSION_UNKNOWN.has(code) || code === 401)) {
      this.retire();
      return new BeforeSending(`the server does not accept the session (${reasonOf(message)})`);
    }
    return new Answered(reasonOf(message), TRANSIENT.has(code));
  }
}

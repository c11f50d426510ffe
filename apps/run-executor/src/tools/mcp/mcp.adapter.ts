import { z } from 'zod';
import type { JsonObject, McpServer, ToolSource } from '@runyard/contracts';
import { Attempt } from '../attempt';
import { BeforeSending } from '../exchange.errors';
import { redacted } from '../secrets';
import type { DiscoveredTool, Discovery, ToolCall, ToolResult } from '../types';
import { resultOf } from './content';
import { CONNECT_TIMEOUT_MS, PROGRESS_CAP_MS } from './limits';
import { KEY_IN_META } from './link';
import { type LinkOptions, secretsOf } from './links';
import type { McpSession, OfferedTool } from './session';
import { McpSessions } from './sessions';

type McpSource = Extract<ToolSource, { kind: 'mcp' }>;

/** Calls tools of MCP servers over pooled sessions. Never throws. */
export class McpTools {
  private readonly sessions: McpSessions;

  constructor(private readonly options: LinkOptions) {
    this.sessions = new McpSessions(options);
  }

  /** One attempt; `meta` goes along in the request's `_meta`. Progress extends the tool's time-out, up to a hard cap (C28). */
  async run(
    call: ToolCall,
    { server, tool }: Pick<McpSource, 'server' | 'tool'>,
    meta: Record<string, string> = {},
  ): Promise<ToolResult> {
    const attempt = new Attempt(call.signal, call.tool.timeoutMs, PROGRESS_CAP_MS);
    let clean = (result: ToolResult) => result;
    try {
      const secrets = await secretsOf(server, call.org, this.options.secrets);
      clean = (result) => secrets.reduce((text, secret) => redacted(text, secret), result);
      const answer = await this.within(attempt, call.org, server, (session) =>
        session.call(tool, call.arguments, { ...meta, [KEY_IN_META]: call.idempotencyKey }, attempt),
      );
      return clean(resultOf(answer));
    } catch (error) {
      return clean(attempt.failure(error));
    } finally {
      attempt.end();
    }
  }

  /** What a server offers, for a registry. */
  async discover(org: string, server: McpServer, signal: AbortSignal): Promise<Discovery> {
    const attempt = new Attempt(signal, 2 * CONNECT_TIMEOUT_MS);
    try {
      const offered = await this.within(attempt, org, server, (session) => session.tools(attempt.signal));
      return { ok: true, tools: offered.flatMap(discovered) };
    } catch (error) {
      return attempt.failure(error);
    } finally {
      attempt.end();
    }
  }

  close(): Promise<void> {
    return this.sessions.close();
  }

  /** Does work on a session; once more on a new one where the old one turned out to be gone before anything was sent. */
  private async within<T>(
    attempt: Attempt,
    org: string,
    server: McpServer,
    work: (session: McpSession) => Promise<T>,
  ): Promise<T> {
    const first = await attempt.unlessStopped(this.sessions.get(org, server));
    try {
      return await work(first);
    } catch (error) {
      if (!(error instanceof BeforeSending) || attempt.signal.aborted) throw error;
      first.retire();
      return work(await attempt.unlessStopped(this.sessions.get(org, server)));
    }
  }
}

const schemaOf = z.record(z.string(), z.json());

function discovered({ name, description = '', inputSchema, annotations }: OfferedTool): DiscoveredTool[] {
  const schema = schemaOf.safeParse(inputSchema);
  if (!schema.success) return [];
  const reads = annotations?.readOnlyHint === true;
  const effect = reads ? 'read' : 'write';
  return [
    {
      name,
      description,
      inputSchema: schema.data as JsonObject,
      effect,
      idempotent: reads || annotations?.idempotentHint === true,
    },
  ];
}

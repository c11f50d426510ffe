import type { JsonObject, McpServer, ToolDefinition } from '@runyard/contracts';

/** One attempt at one tool call, with arguments that were parsed and validated before the call was recorded. */
export interface ToolCall {
  org: string;
  runId: string;
  /** The dialog that the run belongs to; null: the run stands alone. Recorded tools find their dialog by it. */
  conversationId: string | null;
  callId: string;
  /** The agent's owner: the identity under which tools read. */
  ownerId: string;
  tool: ToolDefinition;
  arguments: JsonObject;
  /**
   * Number of this call among the run's (or, in a conversation, the dialog's) calls, in call order, 0 for the first;
   * recorded tools answer by it. Repetitions of a call keep its number.
   */
  position: number;
  /** The same for every repetition of this call; sent along where the source can carry it. */
  idempotencyKey: string;
  /** Aborts on cancel, pause and deadline. The tool's own time-out is the runner's. */
  signal: AbortSignal;
}

export type ToolFailureCode =
  | 'tool_error'
  | 'timeout'
  | 'connection'
  | 'not_sent'
  | 'cancelled'
  | 'refused'
  | 'too_large'
  | 'misconfigured';

export interface ToolFailure {
  ok: false;
  code: ToolFailureCode;
  /** What the model sees. Well-formed text; never holds a credential. */
  text: string;
  /**
   * `none`: nothing is uncertain: the call provably did not happen, or it answered (with an error of its own, or with
   * more than may be read). `unknown`: it may have happened (time-out or broken connection after sending), which is
   * ambiguous for a write that is not idempotent (P4.1).
   */
  effect: 'none' | 'unknown';
  /** Another attempt may succeed. */
  transient: boolean;
  /** The source asked to be left alone for so long (HTTP `Retry-After`). */
  retryAfterMs?: number;
}

/** `text` is whole and well formed; shorten it for the model with `shorten`. */
export type ToolResult = { ok: true; text: string } | ToolFailure;

/** A tool that an MCP server offers, as its server describes it. */
export interface DiscoveredTool {
  name: string;
  description: string;
  inputSchema: JsonObject;
  /** The server's hints, and not a promise: `read` only where it says read-only, idempotent only where it says so. */
  effect: 'read' | 'write';
  idempotent: boolean;
}

export type Discovery = { ok: true; tools: DiscoveredTool[] } | ToolFailure;

/** Runs calls of every source; never throws. Holds connections (MCP sessions), which `close` ends with their process trees. */
export interface ToolRunner {
  run(call: ToolCall): Promise<ToolResult>;
  /** Asks an MCP server what it offers. Never throws. */
  discover(org: string, server: McpServer, signal: AbortSignal): Promise<Discovery>;
  close(): Promise<void>;
}

export type ParsedArguments =
  | { ok: true; value: JsonObject; /** SHA-256 of the canonical JSON. */ digest: string }
  | {
      ok: false;
      /** `misconfigured`: the tool's own schema is broken; the model can do nothing about it. */
      code: 'invalid_arguments' | 'truncated_arguments' | 'misconfigured';
      text: string;
    };

/** Value of an org's secret by its name; undefined: it is not set. */
export type SecretReader = (org: string, name: string) => string | undefined | Promise<string | undefined>;

/** Content of a recording by its file's name: parsed JSON, or its text. Rejects or gives undefined where there is none. */
export type RecordingReader = (name: string) => Promise<unknown>;

/** Structured log of the runner; pino's shape. */
export interface ToolLog {
  info(facts: Record<string, unknown>, message: string): void;
  warn(facts: Record<string, unknown>, message: string): void;
}

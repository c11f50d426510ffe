import type { JsonObject, ToolDefinition } from '@runyard/contracts';

/** One attempt at one tool call, with arguments that were parsed and validated before the call was recorded. */
export interface ToolCall {
  org: string;
  runId: string;
  callId: string;
  /** The agent's owner: the identity under which tools read. */
  ownerId: string;
  tool: ToolDefinition;
  arguments: JsonObject;
  /** Number of this call among the run's (or, in a conversation, the dialog's) calls; recorded tools answer by it. */
  position: number;
  /** The same for every repetition of this call; sent along where the source can carry it. */
  idempotencyKey: string;
  /** Aborts on cancel, pause and deadline. The tool's own time-out is the runner's. */
  signal: AbortSignal;
}

export type ToolResult =
  | { ok: true; text: string }
  | {
      ok: false;
      code: 'tool_error' | 'timeout' | 'connection' | 'not_sent' | 'cancelled' | 'refused' | 'too_large' | 'misconfigured';
      text: string;
      /**
       * `none`: the call provably did not happen or answered with an error of its own; `unknown`: it may have happened
       * (time-out or broken connection after sending), which is ambiguous for a write that is not idempotent (P4.1).
       */
      effect: 'none' | 'unknown';
      /** Another attempt may succeed. */
      transient: boolean;
    };

/** Runs calls of every source; never throws. Holds connections (MCP sessions), which `close` ends with their process trees. */
export interface ToolRunner {
  run(call: ToolCall): Promise<ToolResult>;
  close(): Promise<void>;
}

export type ParsedArguments =
  | { ok: true; value: JsonObject; /** SHA-256 of the canonical JSON. */ digest: string }
  | { ok: false; code: 'invalid_arguments' | 'truncated_arguments'; text: string };

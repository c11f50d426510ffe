import { misconfigured, reasonOf } from './outcomes';
import { runBuiltin } from './builtin/builtin.adapter';
import type { HttpRules } from './http/destination';
import { runHttp } from './http/http.adapter';
import { runKnowledge } from './knowledge/knowledge.adapter';
import type { KnowledgeDoor } from './knowledge/knowledge.adapter';
import type { McpRules } from './mcp/links';
import { McpTools } from './mcp/mcp.adapter';
import { recordedTools } from './recorded/recorded.adapter';
import { MAX_OUTPUT_BYTES } from './text';
import type {
  RecordingReader,
  SecretReader,
  ToolCall,
  ToolFailure,
  ToolLog,
  ToolResult,
  ToolRunner,
} from './types';

export interface ToolRunnerOptions {
  secrets: SecretReader;
  recordings: RecordingReader;
  /** Where HTTP tools and MCP servers may be; `maxBytes`: most that is read of an HTTP answer (default and ceiling 16 MiB). */
  http: HttpRules & { maxBytes?: number };
  mcp: McpRules;
  /** Where the core tools read; undefined: this deployment has no knowledge. */
  knowledge?: KnowledgeDoor;
  /** Epoch milliseconds. */
  now: () => number;
  log: ToolLog;
}

/** Runs calls of every source. One attempt per call; what follows a failure is decided by `afterFailure`. */
export function createToolRunner(options: ToolRunnerOptions): ToolRunner {
  const { secrets, recordings, http, now, log, knowledge } = options;
  const httpTools = { ...http, maxBytes: http.maxBytes ?? MAX_OUTPUT_BYTES, secrets, now };
  const mcp = new McpTools(options);
  const recorded = recordedTools(recordings);
  const run = async (call: ToolCall): Promise<ToolResult> => {
    const { source } = call.tool;
    switch (source.kind) {
      case 'builtin':
        return runBuiltin(call, source.name, now);
      case 'http':
        return runHttp(call, source, httpTools);
      case 'mcp':
        return mcp.run(call, source);
      case 'knowledge':
        return runKnowledge(call, source.operation, knowledge, mcp);
      case 'recorded':
        return recorded(call, source.recording);
      case 'agent':
        // A call of an agent tool is a run of its own; it never gets here.
        return misconfigured(`The tool ${call.tool.name} delegates, which is not the tool runner's to do.`);
      default:
        return unknownSource(call, source);
    }
  };
  return {
    run: (call) => run(call).catch((error: unknown) => failure(call, error, log)),
    discover: (org, server, signal) => mcp.discover(org, server, signal),
    close: () => mcp.close(),
  };
}

/** Definitions are data: a newer version may have written a kind that this one does not know. */
function unknownSource(call: ToolCall, source: never): ToolFailure {
  const kind: unknown = (source as { kind?: unknown } | undefined)?.kind;
  return misconfigured(
    `The tool ${call.tool.name} has a source of the kind ${JSON.stringify(kind ?? null)}, which cannot be run here.`,
  );
}

/** A fault of ours. Whether anything was sent is not known. */
function failure(call: ToolCall, error: unknown, log: ToolLog): ToolFailure {
  log.warn(
    { tool: call.tool.name, runId: call.runId, callId: call.callId, reason: reasonOf(error) },
    'tool call failed by a fault of ours',
  );
  return {
    ok: false,
    code: 'connection',
    text: 'Error: the tool failed by an internal fault.',
    effect: 'unknown',
    transient: false,
  };
}

import type { Json, JsonObject } from '../json';
import type { Mode } from './run.states';

/** Bounds of a run; all of them always hold. Times in seconds. */
export interface Bounds {
  maxSteps: number;
  maxToolCalls: number;
  tokenBudget: number;
  deadlineSeconds: number;
  maxDepth: number;
}

/** The platform's defaults for bounds that an agent leaves unset (domain, section 2; P6.1 for tokens). */
export const DEFAULT_BOUNDS: Bounds = {
  maxSteps: 25,
  maxToolCalls: 100,
  tokenBudget: 200_000,
  deadlineSeconds: 3_600,
  maxDepth: 3,
};

/** No agent, request or extension gets more than this. */
export const BOUND_CEILINGS: Bounds = {
  maxSteps: 10_000,
  maxToolCalls: 100_000,
  tokenBudget: 2_000_000_000,
  deadlineSeconds: 604_800,
  maxDepth: 8,
};

/** How to reach a model. Credentials are names of secrets, never values. */
export type ModelProvider =
  | { kind: 'openai-compatible'; baseUrl: string; credential?: string; headers?: Record<string, string> }
  | { kind: 'anthropic'; baseUrl?: string; credential: string }
  /** Plays turns from a file; `recording` names a file in the deployment's recordings folder, without path. */
  | { kind: 'recorded'; recording: string };

/** One route to a model, as the run carries it. */
export interface ModelRoute {
  modelId: string;
  label: string;
  tier: string;
  provider: ModelProvider;
  /** Model name that is called. */
  model: string;
  /** Tokens the model can see. */
  contextWindow: number;
  /** Most tokens one answer may have. */
  maxOutputTokens: number;
}

/** What the core tools ask of the knowledge store. */
export type KnowledgeOperation = 'search' | 'read' | 'sources';

export type ToolSource =
  | { kind: 'builtin'; name: string }
  | {
      kind: 'http';
      method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
      /** May hold `{argument}` placeholders; the remaining arguments become the query (GET, DELETE) or the JSON body. */
      url: string;
      headers?: Record<string, string>;
      /** Name of a secret that is sent as bearer token. */
      credential?: string;
    }
  | { kind: 'mcp'; server: McpServer; tool: string }
  /** A core tool: reads the knowledge store as the agent's owner. */
  | { kind: 'knowledge'; operation: KnowledgeOperation }
  /** Delegation: a call is a run of that agent, its answer the observation. `tokenBudget`: what one call may spend at most. */
  | { kind: 'agent'; agentId: string; tokenBudget?: number }
  /** Answers by position from a recording and refuses on unequal arguments. */
  | { kind: 'recorded'; recording: string };

export type McpServer =
  | { name: string; transport: 'stdio'; command: string; args: string[]; env?: Record<string, string> }
  | { name: string; transport: 'http'; url: string; credential?: string };

/** A tool as a run carries it. */
export interface ToolDefinition {
  name: string;
  description: string;
  inputSchema: JsonObject;
  effect: 'read' | 'write';
  /** Repeating a call with the same idempotency key does nothing twice. */
  idempotent: boolean;
  source: ToolSource;
  timeoutMs: number;
  /** Its result ends the run as `Completed` (hand-off). */
  endsRun: boolean;
}

/** Everything a run needs to know of its agent, fixed when it is queued; stored as a blob, named by digest. */
export interface DefinitionSnapshot {
  agentId: string;
  agentVersion: number;
  ownerId: string;
  name: string;
  /** Platform prompt, then the owner's prompt. */
  systemPrompt: string;
  /** The route asked for first, then its fallbacks. */
  models: ModelRoute[];
  tools: ToolDefinition[];
  meta: Record<string, Json>;
}

export interface RunSettings {
  bounds: Bounds;
  mode: Mode;
  /** What happens when a call needs a decision: wait for it, or end the run. */
  approvalPolicy: 'park' | 'end';
}

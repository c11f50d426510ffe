import type { ModelRoute, TokenUsage, ToolDefinition } from '@runyard/contracts';

/** A message of the dialog as models see it. Call ids are ours; they are unique in the request. */
export type ChatMessage =
  | { role: 'user'; text: string }
  | {
      role: 'assistant';
      /** Null: the provider sent none. */
      text: string | null;
      toolCalls: readonly { callId: string; tool: string; arguments: string }[];
      /** Opaque provider data of this turn (JSON text), to be sent back to the same provider only. */
      providerState: string | null;
      /** Provider kind and model name that wrote `providerState`. */
      provider: string | null;
    }
  | { role: 'tool'; callId: string; tool: string; text: string };

export interface ModelRequest {
  route: ModelRoute;
  /** Empty: no system message is sent. */
  system: string;
  /** Only ever appended to by the caller; adapters must not copy it more often than a request needs. */
  messages: readonly ChatMessage[];
  tools: readonly ToolDefinition[];
  maxOutputTokens: number;
  signal: AbortSignal;
}

/** One finished answer, as the provider gave it. */
export interface ModelTurn {
  text: string | null;
  reasoning: string | null;
  toolCalls: { providerCallId: string; tool: string; arguments: string }[];
  providerReason: string;
  finish: 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'refusal' | 'other';
  usage: TokenUsage;
  /** Model name as reported, else as asked for. */
  model: string;
  providerState: string | null;
}

export interface ModelFailure {
  code:
    | 'provider_auth'
    | 'provider_unavailable'
    | 'provider_invalid'
    | 'rate_limited'
    | 'interrupted'
    | 'cancelled'
    | 'recording_differs';
  text: string;
  status: number | null;
  /** The same request may succeed later. */
  retryable: boolean;
  retryAfterMs: number | null;
  partialText: string | null;
  /** What the provider reported before it failed; null: nothing is known. */
  usage: TokenUsage | null;
}

export type ModelResult = { ok: true; turn: ModelTurn } | { ok: false; failure: ModelFailure };

/** Makes one attempt at one model turn; never throws and never retries (the run's loop does, so that every attempt is recorded). */
export interface ModelAdapter {
  call(request: ModelRequest): Promise<ModelResult>;
}

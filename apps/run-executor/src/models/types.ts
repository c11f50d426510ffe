import type { ChatMessage } from '../domain/dialog';
import type { ModelRoute, TokenUsage, ToolDefinition } from '@runyard/contracts';

export type { ChatMessage };

export interface ModelRequest {
  route: ModelRoute;
  /** Empty: no system message is sent. */
  system: string;
  /** Only ever appended to by the caller; adapters must not copy it more often than a request needs. */
  messages: readonly ChatMessage[];
  tools: readonly ToolDefinition[];
  maxOutputTokens: number;
  signal: AbortSignal;
  /** Number of this attempt at the turn, from 1 on; recordings play scripted failures by it. Counted where it is missing. */
  attempt?: number;
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
  /** Opaque provider data (JSON text) that goes back with this turn; it names its writer, and goes back to that one only. */
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
  /** What the provider reported before it failed, estimated where it did not; null: it accepted nothing. */
  usage: TokenUsage | null;
}

export type ModelResult = { ok: true; turn: ModelTurn } | { ok: false; failure: ModelFailure };

/** Makes one attempt at one model turn; never throws and never retries (the run's loop does, so that every attempt is recorded). */
export interface ModelAdapter {
  call(request: ModelRequest): Promise<ModelResult>;
}

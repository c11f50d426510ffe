import type { DomainEvent, StoredText } from '../envelope';

// Events about what a run calls: models and tools.

export interface TokenUsage {
  input: number;
  output: number;
  /** Part of input. */
  cached: number;
  /** True where the provider reported none and the numbers are an upper estimate. */
  estimated: boolean;
}

/** Durable before each attempt at a model; one without result after a crash is booked at its worst case (P3.7). */
export type ModelCallStarted = DomainEvent<
  'ModelCallStarted',
  {
    step: number;
    attempt: number;
    modelId: string;
    provider: string;
    model: string;
    /** UTF-8 bytes of the request + 16 per message: an upper bound of its tokens (P6.2). */
    worstCaseInput: number;
    maxOutputTokens: number;
    /** Messages left out so that the rest fits the context window. */
    omittedMessages: number;
  }
>;

export interface ErrorInfo {
  code: string;
  text: string;
}

/** An attempt at a model has failed; `next` says what follows. */
export type ModelCallFailed = DomainEvent<
  'ModelCallFailed',
  {
    step: number;
    attempt: number;
    modelId: string;
    error: ErrorInfo & { status: number | null };
    /** Kept, never final: what had arrived before the stream broke. */
    partialText: StoredText | null;
    usage: TokenUsage;
    /** `retry` the same route after `retryInMs`, `fallback` to the next route, or `give_up`. */
    next: 'retry' | 'fallback' | 'give_up';
    retryInMs: number;
  }
>;

export interface RequestedToolCall {
  /** Our own id, unique in the run: `c<step>-<index>`. */
  callId: string;
  /** The provider's id, kept as data; it repeats and may be empty. */
  providerCallId: string;
  tool: string;
  /** The provider's raw text. */
  arguments: StoredText;
}

/** The answer of a model that counts: text, reasoning and the tool calls it asks for. */
export type ModelTurnCompleted = DomainEvent<
  'ModelTurnCompleted',
  {
    step: number;
    attempt: number;
    modelId: string;
    provider: string;
    /** Name of the model that answered, as the provider reports it. */
    model: string;
    /** Null where the provider sent none (differs from an empty text). */
    text: StoredText | null;
    reasoning: StoredText | null;
    toolCalls: RequestedToolCall[];
    /** The provider's own word for why it stopped. */
    providerReason: string;
    finish: 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'refusal' | 'other';
    usage: TokenUsage;
    startedAt: number;
    /** Opaque provider data that must go back with this turn (reasoning signatures). JSON text. */
    providerState: StoredText | null;
  }
>;

/** Where a decision on a call came from: a rule, a user, the mode or the system. */
export interface CallDecision {
  decidedBy: string;
  ruleId: string | null;
  groupKey: string | null;
}

/** Durable before the effect; the point of no return (P4.2). */
export type ToolCallStarted = DomainEvent<
  'ToolCallStarted',
  {
    step: number;
    callId: string;
    tool: string;
    effect: 'read' | 'write';
    idempotent: boolean;
    /** The same for every repetition of this call. */
    idempotencyKey: string;
    /** SHA-256 of the canonical arguments that are sent. */
    argumentsDigest: string;
    attempt: number;
    decision: CallDecision;
    /** The grant under which a call goes out that a person had to decide about. */
    grant?: { approvalId: string; policyVersion: number; expiresAt: number };
  }
>;

/** A person's answer that settled a call without sending it. */
export interface CallResolution {
  approvalId: string;
  decision: CallDecision;
}

/** The call has given a result; `observation` is what the model sees of it. */
export type ToolCallSucceeded = DomainEvent<
  'ToolCallSucceeded',
  {
    step: number;
    callId: string;
    tool: string;
    observation: StoredText;
    startedAt: number;
    /** A person said that it was done, and with which result. */
    resolution?: CallResolution;
    /** A fork does not repeat what its source has written: the recorded result stands for the call. */
    reusedFrom?: { runId: string; callId: string; decision: CallDecision };
  }
>;

/** The call has failed, provably or by its own word. */
export type ToolCallFailed = DomainEvent<
  'ToolCallFailed',
  {
    step: number;
    callId: string;
    tool: string;
    error: ErrorInfo;
    /** What the model sees. */
    observation: StoredText;
    startedAt: number;
    attempt: number;
    /** True: another attempt follows; the call is not settled. */
    willRetry: boolean;
    retryInMs: number;
    /** True where the tool's retry policy is spent: the run ends with `ToolFailure`. */
    exhausted?: boolean;
    /** A person said that it failed, or nobody said anything in time. */
    resolution?: CallResolution;
  }
>;

/** The call was not made: a rule, a person or the mode said no. */
export type ToolCallDenied = DomainEvent<
  'ToolCallDenied',
  {
    step: number;
    callId: string;
    tool: string;
    observation: StoredText;
    decision: CallDecision;
    /** The question that was answered so; absent where a rule or the mode denied. */
    approvalId?: string;
  }
>;

/** The call was not made, or broken off, because the run is ending. */
export type ToolCallCancelled = DomainEvent<
  'ToolCallCancelled',
  { step: number; callId: string; tool: string; observation: StoredText; startedAt: number | null }
>;

/** Started, and nobody knows whether it happened. */
export type ToolCallAmbiguous = DomainEvent<
  'ToolCallAmbiguous',
  { step: number; callId: string; tool: string; cause: 'crash' | 'timeout' | 'connection'; text: string }
>;

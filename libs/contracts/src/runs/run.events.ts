import type { StoredText } from '../envelope';
import type { DomainEvent } from '../envelope';
import type { RunSettings } from './run.definition';
import type { CancelReason, FailureReason, Mode, SkipReason, Termination, Trigger } from './run.states';

/** What every run is from its birth on; the first event of a run carries it. */
export interface RunIdentity {
  agentId: string;
  agentVersion: number;
  ownerId: string;
  /** On whose behalf it runs; budgets sum by it. */
  userId: string | null;
  /** Actor that asked for it. */
  requestedBy: string;
  trigger: Trigger;
  parentRunId: string | null;
  rootRunId: string;
  depth: number;
  conversationId: string | null;
  /** Tier asked for. */
  tier: string;
  /** SHA-256 over the canonical request: the same key with another digest is refused. */
  requestDigest: string;
}

export type RunQueued = DomainEvent<
  'RunQueued',
  RunIdentity & {
    input: StoredText;
    /** Digest of the DefinitionSnapshot's blob. */
    definition: string;
    settings: RunSettings;
    /** Tokens this run may spend, granted before it starts. */
    grantTokens: number;
    /** The run whose turn came before in the conversation. */
    previousRunId: string | null;
    /** Key in `run_slots` that this run holds until its end; null where nothing competes. */
    slot: string | null;
  }
>;

export type RunSkipped = DomainEvent<'RunSkipped', RunIdentity & { reason: SkipReason; holder: string | null }>;

/** The claim: the fence that every later append of an earlier driver runs into (P3.1). */
export type RunStarted = DomainEvent<'RunStarted', { epoch: number; instance: string }>;
export type RunRecovered = DomainEvent<
  'RunRecovered',
  { epoch: number; instance: string; evidence: 'no_responders' | 'not_mine' | 'silent' | 'woken' }
>;

/** What is left, recorded before every dispatch. `weeklyTokens` is null where no weekly cap applies. */
export type BudgetSnapshotTaken = DomainEvent<
  'BudgetSnapshotTaken',
  {
    steps: number;
    toolCalls: number;
    tokens: number;
    milliseconds: number;
    weeklyTokens: number | null;
    /** Milliseconds spent in `running` so far (P5.7). */
    usedMilliseconds: number;
  }
>;

export interface TokenUsage {
  input: number;
  output: number;
  /** Part of input. */
  cached: number;
  /** True where the provider reported none and the numbers are an upper estimate. */
  estimated: boolean;
}

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
  }
>;

export type ToolCallSucceeded = DomainEvent<
  'ToolCallSucceeded',
  { step: number; callId: string; tool: string; observation: StoredText; startedAt: number }
>;

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
  }
>;

export type ToolCallDenied = DomainEvent<
  'ToolCallDenied',
  { step: number; callId: string; tool: string; observation: StoredText; decision: CallDecision }
>;

export type ToolCallCancelled = DomainEvent<
  'ToolCallCancelled',
  { step: number; callId: string; tool: string; observation: StoredText; startedAt: number | null }
>;

/** Started, and nobody knows whether it happened. */
export type ToolCallAmbiguous = DomainEvent<
  'ToolCallAmbiguous',
  { step: number; callId: string; tool: string; cause: 'crash' | 'timeout' | 'connection'; text: string }
>;

export type RunCancelRequested = DomainEvent<'RunCancelRequested', { reason: CancelReason }>;
export type RunPauseRequested = DomainEvent<'RunPauseRequested', Record<string, never>>;
/** `expiresAt`: epoch milliseconds after which a pause ends the run (`Deadline / pause_expired`). */
export type RunPaused = DomainEvent<'RunPaused', { expiresAt: number }>;
export type RunResumed = DomainEvent<'RunResumed', Record<string, never>>;
export type RunExtended = DomainEvent<'RunExtended', { steps: number; toolCalls: number; tokens: number; seconds: number }>;
export type RunModeSet = DomainEvent<'RunModeSet', { mode: Mode }>;

export type RunSucceeded = DomainEvent<'RunSucceeded', { output: StoredText }>;
export type RunFailed = DomainEvent<
  'RunFailed',
  { termination: Termination; reason: FailureReason; error: ErrorInfo }
>;
export type RunCancelled = DomainEvent<'RunCancelled', { reason: CancelReason }>;
/** The run's rows go; the audit keeps a tombstone without content. */
export type RunDeleted = DomainEvent<'RunDeleted', { agentId: string }>;

export type RunEvent =
  | RunQueued
  | RunSkipped
  | RunStarted
  | RunRecovered
  | BudgetSnapshotTaken
  | ModelCallStarted
  | ModelCallFailed
  | ModelTurnCompleted
  | ToolCallStarted
  | ToolCallSucceeded
  | ToolCallFailed
  | ToolCallDenied
  | ToolCallCancelled
  | ToolCallAmbiguous
  | RunCancelRequested
  | RunPauseRequested
  | RunPaused
  | RunResumed
  | RunExtended
  | RunModeSet
  | RunSucceeded
  | RunFailed
  | RunCancelled
  | RunDeleted;

export type RunEventName = RunEvent['type'];

/** Every event name of the context: an event whose name is missing here is unknown (P8.9). */
export const RUN_EVENTS: Readonly<Record<RunEventName, true>> = {
  RunQueued: true,
  RunSkipped: true,
  RunStarted: true,
  RunRecovered: true,
  BudgetSnapshotTaken: true,
  ModelCallStarted: true,
  ModelCallFailed: true,
  ModelTurnCompleted: true,
  ToolCallStarted: true,
  ToolCallSucceeded: true,
  ToolCallFailed: true,
  ToolCallDenied: true,
  ToolCallCancelled: true,
  ToolCallAmbiguous: true,
  RunCancelRequested: true,
  RunPauseRequested: true,
  RunPaused: true,
  RunResumed: true,
  RunExtended: true,
  RunModeSet: true,
  RunSucceeded: true,
  RunFailed: true,
  RunCancelled: true,
  RunDeleted: true,
};

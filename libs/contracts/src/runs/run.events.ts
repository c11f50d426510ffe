import type { StoredText } from '../envelope';
import type { DomainEvent } from '../envelope';
import { RUN_APPROVAL_EVENTS } from './approval.events';
import type { RunApprovalEvent } from './approval.events';
import type { RunOrigin, TakenOver } from './origin';
import { CHILD_EVENTS } from './child.events';
import type { ChildEvent } from './child.events';
import type { RunSettings } from './run.definition';
import type { RunEnd, WakingBudget } from './run-spend';
import type {
  ErrorInfo,
  ModelCallFailed,
  ModelCallStarted,
  ModelTurnCompleted,
  ToolCallAmbiguous,
  ToolCallCancelled,
  ToolCallDenied,
  ToolCallFailed,
  ToolCallStarted,
  ToolCallSucceeded,
} from './call.events';
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

/** Intake has decided that there is a run: its identity, input and bounds. The first event of a run that starts. */
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
    /** The run that it begins with, and what it takes over from there. */
    origin?: RunOrigin;
    takenOver?: TakenOver;
    /** Key in `run_slots` that this run holds until its end; null where nothing competes. */
    slot: string | null;
    /** The owner's weekly cap had cut the grant: exhaustion then reads `weekly_budget` (P6.1). */
    weeklyCapped?: true;
    /** What the owner's week had left, this grant included; missing where no cap applies. */
    weeklyTokens?: number;
  }
>;

/** Intake has decided that the run does not start, and why. The only event of such a run. */
export type RunSkipped = DomainEvent<
  'RunSkipped',
  RunIdentity & { reason: SkipReason; holder: string | null }
>;

/** The claim: the fence that every later append of an earlier driver runs into (P3.1). */
export type RunStarted = DomainEvent<
  'RunStarted',
  { epoch: number; instance: string; budget?: WakingBudget }
>;
/** Another driver has taken over, with the next epoch, on this evidence against the one before. */
export type RunRecovered = DomainEvent<
  'RunRecovered',
  {
    epoch: number;
    instance: string;
    evidence: 'no_responders' | 'not_mine' | 'silent' | 'woken';
    budget?: WakingBudget;
  }
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

/** Somebody wants the run to end; whoever drives it settles what is open, then appends `RunCancelled`. */
export type RunCancelRequested = DomainEvent<'RunCancelRequested', { reason: CancelReason }>;
/** Somebody wants the run to pause; whoever drives it settles what is open, then appends `RunPaused`. */
export type RunPauseRequested = DomainEvent<'RunPauseRequested', Record<string, never>>;
/** `expiresAt`: epoch milliseconds after which a pause ends the run (`Deadline / pause_expired`). */
export type RunPaused = DomainEvent<'RunPaused', { expiresAt: number }>;
/** The pause is over: the run waits for a driver. */
export type RunResumed = DomainEvent<'RunResumed', Record<string, never>>;
/** Bounds were raised by these amounts. */
export type RunExtended = DomainEvent<
  'RunExtended',
  {
    steps: number;
    toolCalls: number;
    tokens: number;
    seconds: number;
    /** Idempotency key of the caller: the same key adds once. */
    key?: string;
  }
>;
/** What writing tools may do from the next dispatch on. */
export type RunModeSet = DomainEvent<'RunModeSet', { mode: Mode }>;

/** The run has ended with its result. */
export type RunSucceeded = DomainEvent<'RunSucceeded', RunEnd & { output: StoredText }>;
/** The run has ended without its result; `termination` and `reason` say why. */
export type RunFailed = DomainEvent<
  'RunFailed',
  RunEnd & { termination: Termination; reason: FailureReason; error: ErrorInfo }
>;
/** The run has ended because somebody or something wanted it to. */
export type RunCancelled = DomainEvent<'RunCancelled', RunEnd & { reason: CancelReason }>;
/** The run's rows go; the audit keeps a tombstone without content. */
export type RunDeleted = DomainEvent<'RunDeleted', { agentId: string }>;

export type RunEvent =
  | ChildEvent
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
  | RunApprovalEvent
  | RunSucceeded
  | RunFailed
  | RunCancelled
  | RunDeleted;

export type RunEventName = RunEvent['type'];

/** Every event name of the context: an event whose name is missing here is unknown (P8.9). */
export const RUN_EVENTS: Readonly<Record<RunEventName, true>> = {
  ...CHILD_EVENTS,
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
  ...RUN_APPROVAL_EVENTS,
  RunSucceeded: true,
  RunFailed: true,
  RunCancelled: true,
  RunDeleted: true,
};

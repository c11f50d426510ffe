import type {
  Bounds,
  CallDecision,
  CancelReason,
  ErrorInfo,
  Mode,
  RunIdentity,
  RunState as RowState,
  SpendLine,
  StoredText,
} from '@runyard/contracts';
import type { ChildState } from './children';
import type { Grant, GroupGrant, OpenQuestion } from './questions';
import type { RecordedWrite } from './taken-over';
import type { Transcript } from './transcript';

/** One tool call of the current turn. */
export interface CallState {
  callId: string;
  tool: string;
  /** The provider's raw text, whole. */
  arguments: string;
  status:
    | 'undecided'
    | 'in_flight'
    | 'backing_off'
    | 'ambiguous'
    /** A person has been asked. */
    | 'awaiting'
    /** A person has allowed it, and it was not sent yet. */
    | 'approved'
    | 'settled';
  /** Attempts made so far. */
  attempt: number;
  /** Attempts that the tool failed; others were lost with their driver, which is not the tool's fault. */
  failures: number;
  /** When the next attempt is due, epoch ms; only while backing off. */
  retryAt: number;
  started: StartedCall | null;
  /** The question that is open; only while awaiting. */
  question: OpenQuestion | null;
  /** What a person allowed. */
  grant: Grant | null;
  /** Questions about this call so far. */
  questions: number;
  /** The run that the call is, until it is settled; null for other tools. */
  child: ChildState | null;
  outcome: 'succeeded' | 'failed' | 'denied' | 'cancelled' | null;
  /** What the model sees; null until settled. */
  observation: string | null;
}

export interface StartedCall {
  effect: 'read' | 'write';
  idempotent: boolean;
  idempotencyKey: string;
  argumentsDigest: string;
  decision: CallDecision;
}

/** Where the loop stands. */
export type Phase =
  /** `after`: the settled calls of the turn that was just closed. */
  | { name: 'ready'; after: readonly CallState[] }
  | {
      name: 'calling_model';
      step: number;
      attempt: number;
      route: number;
      /** Attempts at this route, this one included. */
      routeAttempt: number;
      modelId: string;
      provider: string;
      model: string;
      worstCaseInput: number;
      maxOutputTokens: number;
    }
  | { name: 'backing_off'; step: number; attempt: number; route: number; routeAttempt: number; until: number }
  | { name: 'gave_up'; error: ErrorInfo }
  | { name: 'calling_tools'; step: number; calls: readonly CallState[]; cutOff: boolean }
  | { name: 'answered'; output: StoredText; finish: string };

/** A run that has been queued and has not ended. */
export interface LiveRun {
  situation: 'queued' | 'running' | 'paused' | 'awaiting_approval' | 'waiting';
  identity: RunIdentity;
  /** Digest of the definition snapshot. */
  definition: string;
  bounds: Bounds;
  mode: Mode;
  approvalPolicy: 'park' | 'end';
  grantTokens: number;
  previousRunId: string | null;
  slot: string | null;
  /** The last claim; epoch 0: nobody has claimed it. */
  epoch: number;
  instance: string | null;
  /** True between a wake (resume) and the next claim: nobody drives it, and anybody may. */
  woken: boolean;
  cancelRequested: { reason: CancelReason; at: number } | null;
  pauseRequested: boolean;
  pauseExpiresAt: number | null;
  /** Groups of calls that a person has allowed for this run. */
  groups: readonly GroupGrant[];
  /** Set when a question was left open for too long: the run ends for it. */
  expiredQuestion: ErrorInfo | null;
  /** Idempotency keys of extensions. */
  extensions: readonly string[];
  /** The run that it begins with. */
  originRunId: string | null;
  /** Writes of the run that it was forked from: equal calls get their results instead of being made again. */
  recordedWrites: readonly RecordedWrite[];
  /** Completed model turns. */
  steps: number;
  /** Tool calls that were dispatched or settled without dispatch. */
  toolCalls: number;
  usedTokens: number;
  /** The same tokens, model by model. */
  spendLines: readonly SpendLine[];
  /** Tokens of settled children and all below them. */
  childTokens: number;
  /** It has waited for people since its last claim: its reservation is asked for again before it goes on (P5.6). */
  parkedForPeople: boolean;
  /** The week left it nothing when it was woken. */
  starved: boolean;
  /** The owner's weekly cap had cut the grant. */
  weeklyCapped: boolean;
  /** What the owner's week had left when the run was admitted, its own grant included; null: no cap. */
  weeklyTokens: number | null;
  /** Milliseconds in `running` up to `runningSince` (P5.7). */
  usedMilliseconds: number;
  runningSince: number | null;
  /** How often the same call was refused in a row as invalid. */
  repeated: { key: string; times: number; step: number };
  /** Set when a tool's retry policy is spent. */
  exhaustedTool: ErrorInfo | null;
  phase: Phase;
  transcript: Transcript;
  lastEventAt: number;
}

/** A run that has ended; terminal is final. */
export interface EndedRun {
  situation: 'ended';
  identity: RunIdentity | null;
  state: Extract<RowState, 'succeeded' | 'failed' | 'cancelled' | 'skipped'>;
  reason: string | null;
  slot: string | null;
  previousRunId: string | null;
  definition: string | null;
  transcript: Transcript;
  deleted: boolean;
  lastEventAt: number;
}

export type Run = { situation: 'none' } | LiveRun | EndedRun;

export const NO_RUN: Run = { situation: 'none' };

export const isLive = (run: Run): run is LiveRun => run.situation !== 'none' && run.situation !== 'ended';

/** A run that nobody drives until something wakes it. */
export const isParked = (run: Run): boolean =>
  run.situation === 'paused' || run.situation === 'awaiting_approval' || run.situation === 'waiting';

/** Epoch ms of a run's last event; 0 before the first. */
export const lastEventAt = (run: Run): number => (run.situation === 'none' ? 0 : run.lastEventAt);

/** The state as rows and answers show it. */
export function stateOf(run: Run): RowState | 'none' {
  if (run.situation === 'ended') return run.state;
  return run.situation;
}

/** Milliseconds spent in `running` until `now`. */
export function usedMilliseconds(run: LiveRun, now: number): number {
  return run.usedMilliseconds + (run.runningSince === null ? 0 : Math.max(0, now - run.runningSince));
}

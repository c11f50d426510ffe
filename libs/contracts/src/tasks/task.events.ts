import type { DomainEvent, StoredText } from '../envelope';
import type { Mode } from '../runs/run.states';
import type { PlannedStep, TaskDetails, TaskLock, TaskPhase, TaskTokens } from './task.states';

// A task and what becomes of it (domain, section 8). Aggregates of the context `tasks`: one a task, and the org's board.

/** Whose task it is stands in every event, so that a stream of them can be filtered without asking anybody. */
type Of<Data> = Data & { userId: string | null };
type TaskEventOf<Name extends string, Data> = DomainEvent<Name, Of<Data>>;

/** The task was put on the board, in a column. */
export type TaskCreated = TaskEventOf<'TaskCreated', { details: TaskDetails; column: string }>;
/** The details as they are afterwards. */
export type TaskEdited = TaskEventOf<'TaskEdited', { details: TaskDetails; fence: number }>;
/** A person wrote the plan. */
export type TaskStepsEdited = TaskEventOf<'TaskStepsEdited', { steps: PlannedStep[]; fence: number }>;
/** The task is gone, with its steps and its lock; its runs stay. */
export type TaskDeleted = TaskEventOf<'TaskDeleted', Record<never, never>>;
/**
 * Nothing that the task said can be read any more: its other events are overwritten, its activity goes with it (P9.1).
 * `userId` is null, so that what stays names nobody.
 */
export type TaskErased = TaskEventOf<'TaskErased', Record<never, never>>;

/** `superseded`: the expired or broken lock that it took the place of. */
export type TaskLockAcquired = TaskEventOf<'TaskLockAcquired', TaskLock & { superseded: TaskLock | null }>;
/** The same lock, for longer (heartbeat). */
export type TaskLockRenewed = TaskEventOf<'TaskLockRenewed', { fence: number; expiresAt: number }>;
/** Nobody holds the task. */
export type TaskLockReleased = TaskEventOf<'TaskLockReleased', { fence: number }>;

/** `note`: what a person said with the start; later phases read it. `automatic`: by the end of what it waited for. */
export type TaskStarted = TaskEventOf<
  'TaskStarted',
  { phase: TaskPhase; automatic: boolean; note: string | null }
>;
/** It waits for these tasks and starts by itself when they are completed. */
export type TaskHeld = TaskEventOf<'TaskHeld', { waitsFor: string[]; note: string | null }>;
/** Only a person can take the task further. `escalated`: it called itself blocked while nothing was open, or too often. */
export type TaskNeedsInput = TaskEventOf<'TaskNeedsInput', { question: string; escalated: boolean }>;
/** The run under way is to be cancelled; its end ends the task. */
export type TaskStopRequested = TaskEventOf<'TaskStopRequested', Record<never, never>>;

/** A run that the task wants, whole: its request is made of this event alone, however often it is sent. */
export interface PhaseRequest {
  /** Counts the task's requests; with the task's id it makes the key. */
  number: number;
  runId: string;
  phase: TaskPhase;
  /** Number of the step, from 1, in *act*. */
  step: number | null;
  /** Counts verifications, from 1. */
  round: number;
  agentId: string;
  modelId: string | null;
  maxSteps: number;
  /** Null: the agent's. */
  mode: Mode | null;
  input: string;
}
/** A run of the next phase or step is wanted. */
export type TaskPhaseRequested = TaskEventOf<'TaskPhaseRequested', PhaseRequest>;
/** The run did not come to its work for a passing reason; the phase is requested again at `until`, epoch ms. */
export type TaskPhaseDeferred = TaskEventOf<'TaskPhaseDeferred', { until: number; code: string }>;
/** The run that the task waited for has ended. */
export type TaskPhaseEnded = TaskEventOf<
  'TaskPhaseEnded',
  {
    runId: string;
    phase: TaskPhase;
    step: number | null;
    /** Terminal state of the run; `refused` where no run came of the request. */
    state: 'succeeded' | 'failed' | 'cancelled' | 'skipped' | 'refused';
    reason: string | null;
    /** Loop steps that it made. */
    steps: number;
    /** Its own and its subagents' tokens. */
    tokens: TaskTokens & { total: number };
  }
>;

/** The run ended well, but what it answered is not in the declared format; it is asked again, a few times. */
export type TaskAnswerRefused = TaskEventOf<'TaskAnswerRefused', { runId: string; detail: string }>;

/** The plan, as the agent made it. */
export type TaskPlanned = TaskEventOf<'TaskPlanned', { steps: PlannedStep[] }>;
/** The plan waits for a look before its first step. */
export type TaskReviewAwaited = TaskEventOf<'TaskReviewAwaited', Record<never, never>>;
/** A step of the plan is done, or given up. */
export type TaskStepFinished = TaskEventOf<
  'TaskStepFinished',
  { step: number; status: 'completed' | 'failed' | 'cancelled'; result: StoredText | null }
>;
/** `redo`: numbers of the steps that are sent back. */
export type TaskVerified = TaskEventOf<
  'TaskVerified',
  { accepted: boolean; reason: string; redo: number[]; round: number }
>;
/** The task is done. `byHand`: by a holder of its lock, not by its agent. */
export type TaskCompleted = TaskEventOf<'TaskCompleted', { report: StoredText; byHand: boolean }>;
/** The task ended without being done; it can be started again. */
export type TaskFailed = TaskEventOf<'TaskFailed', { reason: string; detail: string }>;
/** The task was stopped; it can be started again. */
export type TaskCancelled = TaskEventOf<'TaskCancelled', { reason: string }>;
/** Its owner was deleted: it is nobody's, and admins take care of it. `userId` is null. */
export type TaskOwnerCleared = TaskEventOf<'TaskOwnerCleared', Record<never, never>>;
/** The run was deleted: links to it are cleared, its tokens stay counted. */
export type TaskRunForgotten = TaskEventOf<'TaskRunForgotten', { runId: string }>;

export type TaskEvent =
  | TaskCreated
  | TaskEdited
  | TaskStepsEdited
  | TaskDeleted
  | TaskErased
  | TaskLockAcquired
  | TaskLockRenewed
  | TaskLockReleased
  | TaskStarted
  | TaskHeld
  | TaskNeedsInput
  | TaskStopRequested
  | TaskPhaseRequested
  | TaskPhaseDeferred
  | TaskPhaseEnded
  | TaskAnswerRefused
  | TaskPlanned
  | TaskReviewAwaited
  | TaskStepFinished
  | TaskVerified
  | TaskCompleted
  | TaskFailed
  | TaskCancelled
  | TaskOwnerCleared
  | TaskRunForgotten;

export const TASK_EVENTS: Readonly<Record<TaskEvent['type'], true>> = {
  TaskCreated: true,
  TaskEdited: true,
  TaskStepsEdited: true,
  TaskDeleted: true,
  TaskErased: true,
  TaskLockAcquired: true,
  TaskLockRenewed: true,
  TaskLockReleased: true,
  TaskStarted: true,
  TaskHeld: true,
  TaskNeedsInput: true,
  TaskStopRequested: true,
  TaskPhaseRequested: true,
  TaskPhaseDeferred: true,
  TaskPhaseEnded: true,
  TaskAnswerRefused: true,
  TaskPlanned: true,
  TaskReviewAwaited: true,
  TaskStepFinished: true,
  TaskVerified: true,
  TaskCompleted: true,
  TaskFailed: true,
  TaskCancelled: true,
  TaskOwnerCleared: true,
  TaskRunForgotten: true,
};

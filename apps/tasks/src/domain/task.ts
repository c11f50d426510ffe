import type {
  DomainEvent,
  PhaseRequest,
  PlannedStep,
  StoredText,
  TaskAttention,
  TaskDetails,
  TaskEvent,
  TaskLock,
  TaskPhase,
  TaskStatus,
} from '@runyard/contracts';

export interface TaskStep extends PlannedStep {
  status: TaskStatus;
  result: StoredText | null;
}

export interface LiveTask {
  situation: 'live';
  userId: string | null;
  details: TaskDetails;
  column: string;
  status: TaskStatus;
  phase: TaskPhase | null;
  steps: readonly TaskStep[];
  /** Counts verifications, from 1. */
  round: number;
  accepted: boolean;
  /** Loop steps of runs that have ended. */
  stepsUsed: number;
  /** Requests so far: the number of the last one. */
  requests: number;
  /** Runs that it asked for, save those that were deleted. */
  runIds: readonly string[];
  /** The run that is asked for or under way. */
  active: PhaseRequest | null;
  /** Between two requests of the same phase; epoch ms. */
  deferredUntil: number | null;
  /** Runs of the present phase or step that failed for a passing reason, or whose answer could not be used. */
  tries: number;
  /** Requests of the present phase or step that found the agent busy. */
  busy: number;
  /** What was wrong with the last answer, or why the last verification failed; the next run is told. */
  complaint: string | null;
  stopping: boolean;
  attention: { kind: TaskAttention; text: string } | null;
  /** Starts by the end of what it waited for, since a person's last one. */
  automaticStarts: number;
  note: string | null;
  /** Token of the last lock, live or not. */
  fence: number;
  /** The last lock until it is released; whether it lives is a matter of time. */
  lock: TaskLock | null;
  report: StoredText | null;
}

export type Task = { situation: 'none' } | { situation: 'deleted' } | LiveTask;

export const NO_TASK: Task = { situation: 'none' };

/** An event of a live task as the decider makes it: whose task it is, is added to all of them in one place. */
export type Told<E = TaskEvent> =
  E extends DomainEvent<infer Name, infer Data> ? { type: Name; data: Omit<Data, 'userId'> } : never;

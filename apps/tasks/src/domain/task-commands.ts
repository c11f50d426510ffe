import type { StoredText, TaskDetails, TaskStatus, PlannedStep } from '@runyard/contracts';
import type { Asker } from './rights';

/** A task that another one depends on, as its log tells it. */
export interface Dependency {
  taskId: string;
  status: TaskStatus | 'deleted';
}

/** What a phase's request needs besides the task: pure, given by the handler. */
export interface Requesting {
  /** Run id of the task's request of that number. */
  runIdOf(number: number): string;
  /** Dependencies that are not completed. */
  open: readonly Dependency[];
  /** Epoch ms. */
  now: number;
}

/** How a run of the task ended, as its log tells it. */
export interface RunOutcome {
  runId: string;
  state: 'succeeded' | 'failed' | 'cancelled' | 'skipped';
  reason: string | null;
  /** For people. */
  error: string;
  output: StoredText | null;
  /** The output whole; null where it was erased. */
  text: string | null;
  steps: number;
  tokens: { input: number; output: number; cached: number; total: number };
}

/** An edit is made under a lock: who, with which token, and when by the one clock of locks. */
export interface UnderLock {
  asker: Asker;
  fence: number;
  now: number;
}

export type TaskCommand =
  | { type: 'CreateTask'; asker: Asker; details: TaskDetails; column: string }
  | ({ type: 'EditTask'; changes: Partial<TaskDetails> } & UnderLock)
  | ({ type: 'EditSteps'; steps: PlannedStep[] } & UnderLock)
  | ({ type: 'CompleteTask'; report: string } & UnderLock)
  | ({ type: 'DeleteTask' } & UnderLock)
  | { type: 'AcquireLock'; asker: Asker; lockId: string; ttlMs: number; steal: boolean; now: number }
  | ({ type: 'RenewLock'; ttlMs: number } & UnderLock)
  | ({ type: 'ReleaseLock' } & UnderLock)
  | ({ type: 'StartTask'; asker: Asker; note: string | null } & Requesting)
  | { type: 'StopTask'; asker: Asker }
  /** Reactions and the look at what is due; they ask nobody. */
  | ({ type: 'Unblock' } & Requesting)
  | ({ type: 'RunEnded'; outcome: RunOutcome } & Requesting)
  | { type: 'RequestRefused'; number: number; code: string; message: string }
  | ({ type: 'RequestAgain' } & Requesting)
  | { type: 'ForgetRun'; runId: string }
  /** Its owner was deleted. */
  | { type: 'ClearOwner'; userId: string };

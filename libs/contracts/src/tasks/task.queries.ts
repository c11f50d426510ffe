import type { TaskAttention, TaskPhase, TaskStatus } from './task.states';

// What tasks answer.

export interface TaskStepRow {
  seq: number;
  title: string;
  detail: string;
  status: TaskStatus;
  result: string | null;
  run_id: string | null;
}

/** A lock as it is at the time of the answer: an expired one is shown as expired at once. */
export interface TaskLockRow {
  fence: number;
  lock_id: string;
  holder: string;
  expires_at: string;
  expired: boolean;
}

/** A task that another one depends on, and what has become of it. */
export interface DependencyRow {
  task_id: string;
  title: string | null;
  status: TaskStatus | 'deleted';
}

export interface TaskRow {
  task_id: string;
  title: string;
  description: string;
  acceptance: string;
  status: TaskStatus;
  agent_id: string;
  model_id: string | null;
  max_steps: number;
  steps_used: number;
  /** The progress cursor: the phase, the step in *act*, and the round of verification. */
  phase: TaskPhase | null;
  current_step: number | null;
  round: number;
  steps_done: number;
  steps_total: number;
  report: string | null;
  latest_run_id: string | null;
  column: string;
  rank: string | null;
  blocked_by: string[];
  review_plan: boolean;
  attention: TaskAttention | null;
  attention_text: string | null;
  reason: string | null;
  reason_text: string | null;
  stopping: boolean;
  retry_at: string | null;
  user_id: string | null;
  created_by: string;
  created_at: string;
  updated_at: string;
  started_at: string | null;
  ended_at: string | null;
  total_tokens: number;
  lock: TaskLockRow | null;
  position: string;
}

export interface TaskRunRow {
  run_id: string;
  phase: TaskPhase;
  step: number | null;
  round: number;
  state: string;
  reason: string | null;
  steps: number;
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  total_tokens: number;
  requested_at: string;
  ended_at: string | null;
}

export interface TaskActivityRow {
  at: string;
  type: string;
  task_id: string;
  title: string;
  actor: string;
  summary: string;
  position: string;
}

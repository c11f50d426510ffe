import type { Actor } from '../envelope';

// What a task is made of (domain, section 8).

export const TASK_STATUSES = ['pending', 'running', 'completed', 'failed', 'cancelled'] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

export const TASK_PHASES = ['plan', 'act', 'verify', 'report'] as const;
export type TaskPhase = (typeof TASK_PHASES)[number];

/**
 * Why a task that nobody works on waits: `needs_input` for a person (sticky: nothing but a start ends it), `plan_review`
 * for somebody to look at its plan, `blocked` for the tasks that it depends on (it goes on by itself).
 */
export const TASK_ATTENTIONS = ['needs_input', 'plan_review', 'blocked'] as const;
export type TaskAttention = (typeof TASK_ATTENTIONS)[number];

/** Loop steps of all runs of a task together: the most, and the default (domain, section 8). */
export const MOST_TASK_STEPS = 25;

/** What people write about a task. */
export interface TaskDetails {
  title: string;
  description: string;
  /** What counts as done; *verify* judges against it. */
  acceptance: string;
  agentId: string;
  /** A row of the allowed list; null: the agent's. */
  modelId: string | null;
  maxSteps: number;
  /** Tasks that must be completed first. */
  blockedBy: string[];
  /** Wait for a start between *plan* and *act*. */
  reviewPlan: boolean;
}

export interface PlannedStep {
  title: string;
  detail: string;
}

/** A lease. `fence` grows by one with every ownership; `lockId` names the attempt, so that one holder's two attempts differ. */
export interface TaskLock {
  fence: number;
  lockId: string;
  /** Actor that holds it. */
  holder: string;
  /** Epoch ms; from then on it is held by nobody, without any event. */
  expiresAt: number;
}

export interface TaskTokens {
  input: number;
  output: number;
  cached: number;
}

/** Idempotency key of a task's request: any number of sends name one run. */
export const taskRunKey = (taskId: string, number: number): string => `task:${taskId}:${number}`;

/** Who a task's runs name as having requested them. */
export const taskRequester = (taskId: string): Actor => `system:${taskId}`;

const OF_TASK = /^system:(task_[0-9a-z]{20,40})$/;

/** The inverse of {@link taskRequester}; undefined for everybody else. */
export const taskOfRequester = (requestedBy: string): string | undefined => OF_TASK.exec(requestedBy)?.[1];

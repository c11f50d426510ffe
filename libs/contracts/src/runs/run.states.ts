/** States of a run (domain, section 4). */
export const RUN_STATES = [
  'queued',
  'running',
  'awaiting_approval',
  'paused',
  'waiting',
  'succeeded',
  'failed',
  'cancelled',
  'skipped',
] as const;
export type RunState = (typeof RUN_STATES)[number];

export const UNFINISHED_STATES = ['queued', 'running', 'awaiting_approval', 'paused', 'waiting'] as const;

export const TERMINATIONS = [
  'Completed',
  'BudgetExceeded',
  'Deadline',
  'ConfirmationPending',
  'ToolFailure',
  'Refused',
  'Error',
  'Cancelled',
] as const;
export type Termination = (typeof TERMINATIONS)[number];

/** Statuses in the dialog runner's words; `running` stands for every unfinished state. */
export type DialogStatus =
  | 'running'
  | 'completed'
  | 'budget_exhausted'
  | 'spend_limit_exceeded'
  | 'error'
  | 'cancelled'
  | 'skipped';

export interface Outcome {
  state: RunState;
  termination: Termination | null;
  reason: string | null;
  status: DialogStatus;
}

const failed = (termination: Termination, status: DialogStatus, reasons: string[]): Outcome[] =>
  reasons.map((reason) => ({ state: 'failed', termination, reason, status }));

/** The table of section 4: every way in which a run may end. A row that is not here is a CHECK violation. */
export const OUTCOMES: readonly Outcome[] = [
  { state: 'succeeded', termination: 'Completed', reason: null, status: 'completed' },
  ...failed('BudgetExceeded', 'budget_exhausted', ['iteration_cap', 'tool_call_cap', 'token_budget']),
  ...failed('BudgetExceeded', 'spend_limit_exceeded', ['weekly_budget']),
  ...failed('Deadline', 'budget_exhausted', ['deadline', 'pause_expired']),
  ...failed('ConfirmationPending', 'error', ['confirmation_required', 'approval_expired']),
  ...failed('ToolFailure', 'error', ['tool_failure', 'unknown_effect']),
  ...failed('Refused', 'error', ['model_refused', 'content_filtered']),
  ...failed('Error', 'error', [
    'error',
    'stale',
    'provider_auth',
    'provider_unavailable',
    'provider_invalid',
    'definition_invalid',
  ]),
  ...['user', 'parent', 'replaced', 'agent_stopped'].map((reason): Outcome => ({
    state: 'cancelled',
    termination: 'Cancelled',
    reason,
    status: 'cancelled',
  })),
  { state: 'skipped', termination: null, reason: 'budget_exceeded', status: 'skipped' },
  { state: 'skipped', termination: null, reason: 'already_running', status: 'skipped' },
];

export type FailureReason =
  | 'iteration_cap'
  | 'tool_call_cap'
  | 'token_budget'
  | 'weekly_budget'
  | 'deadline'
  | 'pause_expired'
  | 'confirmation_required'
  | 'approval_expired'
  | 'tool_failure'
  | 'unknown_effect'
  | 'model_refused'
  | 'content_filtered'
  | 'error'
  | 'stale'
  | 'provider_auth'
  | 'provider_unavailable'
  | 'provider_invalid'
  | 'definition_invalid';
export type CancelReason = 'user' | 'parent' | 'replaced' | 'agent_stopped';
export type SkipReason = 'budget_exceeded' | 'already_running';

const TERMINATION_OF = new Map(
  OUTCOMES.filter((o) => o.state === 'failed').map((o) => [o.reason, o.termination]),
);

/** The termination a failure reason belongs to. */
export function terminationOf(reason: FailureReason): Termination {
  return TERMINATION_OF.get(reason) ?? 'Error';
}

export const TRIGGERS = [
  'manual',
  'scheduled',
  'requested',
  'delegated',
  'task',
  'continuation',
  'fork',
  'eval',
] as const;
export type Trigger = (typeof TRIGGERS)[number];

export const MODES = ['plan', 'ask', 'auto'] as const;
/** What writing tools may do: `plan` denies them, `ask` needs a decision for each, `auto` lets them run. */
export type Mode = (typeof MODES)[number];

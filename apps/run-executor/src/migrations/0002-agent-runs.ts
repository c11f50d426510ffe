import type { Migration } from '@runyard/persistence';

/**
 * One row a run, from queueing on, moved in place (domain, section 5). The CHECK on outcomes is the table of section 4,
 * written out: a new way to end is a new migration.
 */
export const agentRuns: Migration = {
  name: 'CreateAgentRuns',
  timestamp: 1_764_460_001_000,
  up: `
CREATE TABLE agent_runs (
  run_id text PRIMARY KEY,
  org_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
  parent_run_id text REFERENCES agent_runs ON DELETE SET NULL,
  root_run_id text NOT NULL,
  depth integer NOT NULL DEFAULT 0,
  user_id uuid,
  owner_id text NOT NULL,
  requested_by text NOT NULL,
  agent_id text NOT NULL,
  agent_version integer NOT NULL DEFAULT 1,
  definition text,
  trigger text NOT NULL,
  conversation_id text,
  previous_run_id text,
  slot_key text,
  input text,
  input_digest text,
  mode text,
  approval_policy text,
  bounds jsonb,
  grant_tokens bigint NOT NULL DEFAULT 0,
  state text NOT NULL,
  termination text,
  reason text,
  status text NOT NULL GENERATED ALWAYS AS (CASE
    WHEN state IN ('queued', 'running', 'awaiting_approval', 'paused', 'waiting') THEN 'running'
    WHEN state = 'succeeded' THEN 'completed'
    WHEN state IN ('cancelled', 'skipped') THEN state
    WHEN reason = 'weekly_budget' THEN 'spend_limit_exceeded'
    WHEN termination IN ('BudgetExceeded', 'Deadline') THEN 'budget_exhausted'
    ELSE 'error' END) STORED,
  tier text NOT NULL,
  model text NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL,
  started_at timestamptz,
  ended_at timestamptz,
  heartbeat_at timestamptz,
  output text,
  output_digest text,
  error jsonb,
  entries jsonb NOT NULL DEFAULT '[]',
  input_tokens bigint NOT NULL DEFAULT 0,
  output_tokens bigint NOT NULL DEFAULT 0,
  cached_tokens bigint NOT NULL DEFAULT 0,
  total_tokens bigint NOT NULL GENERATED ALWAYS AS (input_tokens + output_tokens) STORED,
  model_calls integer NOT NULL DEFAULT 0,
  tool_calls integer NOT NULL DEFAULT 0,
  steps integer NOT NULL DEFAULT 0,
  cancel_requested text,
  cancel_requested_at timestamptz,
  pause_requested boolean NOT NULL DEFAULT false,
  pause_expires_at timestamptz,
  sequence bigint NOT NULL,
  position text NOT NULL,
  FOREIGN KEY (org_id, user_id) REFERENCES users ON DELETE SET NULL (user_id),
  FOREIGN KEY (org_id, conversation_id) REFERENCES conversations ON DELETE CASCADE,
  CONSTRAINT agent_runs_known_state CHECK (state IN
    ('queued', 'running', 'awaiting_approval', 'paused', 'waiting', 'succeeded', 'failed', 'cancelled', 'skipped')),
  CONSTRAINT agent_runs_known_trigger CHECK (trigger IN
    ('manual', 'scheduled', 'requested', 'delegated', 'task', 'continuation', 'fork', 'eval')),
  CONSTRAINT agent_runs_known_mode CHECK (mode IN ('plan', 'ask', 'auto')),
  CONSTRAINT agent_runs_outcome CHECK ((CASE
    WHEN state = 'succeeded' THEN termination = 'Completed' AND reason IS NULL
    WHEN state = 'cancelled' THEN termination = 'Cancelled' AND reason IN ('user', 'parent', 'replaced', 'agent_stopped')
    WHEN state = 'skipped' THEN termination IS NULL AND reason IN ('budget_exceeded', 'already_running')
    WHEN state = 'failed' THEN (termination, reason) IN (
      ('BudgetExceeded', 'iteration_cap'), ('BudgetExceeded', 'tool_call_cap'), ('BudgetExceeded', 'token_budget'),
      ('BudgetExceeded', 'weekly_budget'), ('Deadline', 'deadline'), ('Deadline', 'pause_expired'),
      ('ConfirmationPending', 'confirmation_required'), ('ConfirmationPending', 'approval_expired'),
      ('ToolFailure', 'tool_failure'), ('ToolFailure', 'unknown_effect'),
      ('Refused', 'model_refused'), ('Refused', 'content_filtered'),
      ('Error', 'error'), ('Error', 'stale'), ('Error', 'provider_auth'), ('Error', 'provider_unavailable'),
      ('Error', 'provider_invalid'), ('Error', 'definition_invalid'))
    ELSE termination IS NULL AND reason IS NULL END) IS TRUE),
  CONSTRAINT agent_runs_output_on_success CHECK (state <> 'succeeded' OR output IS NOT NULL),
  CONSTRAINT agent_runs_error_on_failure CHECK (state <> 'failed'
    OR (error IS NOT NULL AND jsonb_typeof(error) = 'object' AND error ? 'code' AND error ? 'text')),
  CONSTRAINT agent_runs_entries_are_an_array CHECK (jsonb_typeof(entries) = 'array'),
  CONSTRAINT agent_runs_ends_after_start CHECK (ended_at >= started_at AND ended_at >= created_at),
  CONSTRAINT agent_runs_terminal_when_ended CHECK
    ((state IN ('succeeded', 'failed', 'cancelled', 'skipped')) = (ended_at IS NOT NULL)),
  CONSTRAINT agent_runs_started_when_running CHECK (state <> 'running' OR started_at IS NOT NULL),
  CONSTRAINT agent_runs_skipped_at_birth CHECK (state <> 'skipped' OR (started_at IS NULL AND ended_at = created_at)),
  CONSTRAINT agent_runs_no_negative_counts CHECK (depth >= 0 AND agent_version >= 1 AND grant_tokens >= 0
    AND input_tokens >= 0 AND output_tokens >= 0 AND cached_tokens >= 0
    AND model_calls >= 0 AND tool_calls >= 0 AND steps >= 0),
  CONSTRAINT agent_runs_no_self_parent CHECK (parent_run_id <> run_id)
) WITH (fillfactor = 80);
`,
};

import type { Migration } from '@runyard/persistence';

const COLUMNS = {
  run_id: 'Derived from org and idempotency key: the same request always names the same run.',
  org_id: 'Tenant; row-level security compares it.',
  parent_run_id: 'The run that delegated to this one; cleared when that one is deleted.',
  root_run_id: 'Top of the tree of delegations; its own id for a top-level run.',
  depth: 'Delegations between the root and this run; 0 for a top-level run.',
  user_id: 'On whose behalf it ran; budgets sum by it. Cleared when the user is deleted.',
  owner_id: 'Owner of the agent when the run was queued, as the log names it.',
  requested_by: 'Actor that asked for the run: user, service or system, and an id.',
  agent_id: 'Author-facing name of the agent; no foreign key, history outlives agents.',
  agent_version: 'Version of the agent that ran.',
  definition: 'Digest of the definition snapshot that it ran with.',
  trigger: 'What made the run: manual, scheduled, requested, delegated, task, continuation, fork or eval.',
  conversation_id: 'The dialog that this run is a turn of.',
  previous_run_id: 'The turn before in the conversation, as the log names it; may have been deleted since.',
  slot_key: 'Key in run_slots that the run holds until it ends; null where it does not compete.',
  input: 'What was asked; the beginning of it where the whole is stored by input_digest.',
  input_digest: 'Digest of the stored input where it is too large for the row.',
  mode: 'What writing tools may do: plan denies, ask needs a decision, auto lets them run.',
  approval_policy: 'What happens when a call needs a decision: park the run or end it.',
  bounds:
    'Caps that hold: maxSteps, maxToolCalls, tokenBudget, deadlineSeconds, maxDepth; extensions included.',
  grant_tokens: 'Tokens that the run may spend, extensions included.',
  state: 'Where the run stands; succeeded, failed, cancelled and skipped are final.',
  termination: 'How it ended, in the words of the trajectory store; null until it ends and for skipped.',
  reason: 'Why it ended that way; null for succeeded.',
  status: 'The state in the words of the dialog runner; running stands for every unfinished state.',
  tier: 'Tier that the author asked for.',
  model: 'The last model that answered; empty until one did.',
  created_at: 'When it was queued.',
  started_at: 'When it was first claimed; null until then and for skipped.',
  ended_at: 'When it ended; null exactly while unfinished.',
  heartbeat_at:
    'Last sign of life in the log while running; run_drivers holds what the driver itself reports.',
  output: 'The final answer, whole.',
  output_digest: 'Digest of the stored answer where it was too large for an event.',
  error: 'What went wrong, classified: code and text.',
  entries:
    'The trajectory: messages, tool calls, tool results and budget snapshots in sequence; written once, at the end.',
  input_tokens: 'Tokens of its own model calls, failed attempts included; cached ones are part of them.',
  output_tokens: 'Tokens that models wrote in its own calls.',
  cached_tokens: 'Part of input_tokens that the provider read from its cache.',
  total_tokens: 'input_tokens + output_tokens.',
  model_calls: 'Attempts at model turns that were answered or failed.',
  tool_calls: 'Calls that were dispatched, or settled without dispatch; repetitions do not count.',
  steps: 'Completed model turns: what the step cap bounds.',
  cancel_requested: 'Reason of a cancel that the driver has not carried out yet, or did.',
  cancel_requested_at: 'When the cancel was asked for.',
  pause_requested: 'A pause was asked for and the run is not parked yet.',
  pause_expires_at: 'When a paused run ends by itself.',
  sequence: 'Stream sequence of the last commit that the row reflects.',
  position:
    'Position in the log that the row reflects: stream sequence and index of the event in its commit.',
};

/** Indexes of `agent_runs` (domain, section 5) and what its columns are for. */
export const agentRunsIndexes: Migration = {
  name: 'IndexAgentRuns',
  timestamp: 1_764_460_002_000,
  up: `
CREATE INDEX agent_runs_list ON agent_runs (org_id, (coalesce(started_at, created_at)) DESC, run_id DESC);
CREATE INDEX agent_runs_of_agent ON agent_runs
  (org_id, agent_id, (coalesce(started_at, created_at)) DESC, run_id DESC);
CREATE INDEX agent_runs_of_user ON agent_runs
  (org_id, user_id, (coalesce(started_at, created_at)) DESC, run_id DESC);
CREATE INDEX agent_runs_failures ON agent_runs
  (org_id, termination, (coalesce(started_at, created_at)) DESC, run_id DESC) WHERE termination <> 'Completed';
CREATE INDEX agent_runs_children ON agent_runs (parent_run_id) WHERE parent_run_id IS NOT NULL;
CREATE INDEX agent_runs_of_conversation ON agent_runs
  (org_id, conversation_id, (coalesce(started_at, created_at)) DESC, run_id DESC) WHERE conversation_id IS NOT NULL;
CREATE INDEX agent_runs_ended ON agent_runs (org_id, ended_at);
CREATE INDEX agent_runs_unfinished ON agent_runs (created_at)
  WHERE state IN ('queued', 'running', 'awaiting_approval', 'paused', 'waiting');
CREATE UNIQUE INDEX agent_runs_one_active ON agent_runs (slot_key)
  WHERE slot_key IS NOT NULL AND state IN ('queued', 'running', 'awaiting_approval', 'paused', 'waiting');
CREATE UNIQUE INDEX agent_runs_one_turn_at_a_time ON agent_runs (org_id, conversation_id)
  WHERE conversation_id IS NOT NULL AND depth = 0
    AND state IN ('queued', 'running', 'awaiting_approval', 'paused', 'waiting');

COMMENT ON TABLE agent_runs IS 'One row a run, from queueing to its end; a projection of the stream RUNS that can be rebuilt.';
COMMENT ON INDEX agent_runs_one_active IS 'Proof of one active run per agent (or per dialog); the slot in run_slots decides.';
COMMENT ON INDEX agent_runs_one_turn_at_a_time IS 'Proof of one unfinished top-level run per conversation.';
${Object.entries(COLUMNS)
  .map(([column, text]) => `COMMENT ON COLUMN agent_runs.${column} IS '${text}';`)
  .join('\n')}
`,
};

// Written by `node apps/gateway/generate.mjs` out of the description of the HTTP API; a test compares them.

export type StartedRun = {
  run_id: string;
  /** null where the request is stored, but intake has not answered yet */
  state: "queued" | "running" | "awaiting_approval" | "paused" | "waiting" | "succeeded" | "failed" | "cancelled" | "skipped" | null;
  reason: string | null;
  position: string | null;
  /** false where the key named this run before */
  created: boolean | null;
};

export type Run = {
  run_id: string;
  agent_id: string;
  agent_version: number;
  parent_run_id: string | null;
  root_run_id: string;
  forked_from?: string | null;
  forked_step?: number | null;
  continues?: string | null;
  retries?: string | null;
  conversation_id: string | null;
  user_id: string | null;
  requested_by: string | null;
  trigger: "manual" | "scheduled" | "requested" | "delegated" | "task" | "continuation" | "fork" | "eval";
  state: "queued" | "running" | "awaiting_approval" | "paused" | "waiting" | "succeeded" | "failed" | "cancelled" | "skipped";
  /** The state in the dialog runner's words; every unfinished one is running */
  status: string;
  termination: "Completed" | "BudgetExceeded" | "Deadline" | "ConfirmationPending" | "ToolFailure" | "Refused" | "Error" | "Cancelled" | null;
  reason: string | null;
  created_at: string;
  started_at: string | null;
  ended_at: string | null;
  output: string | null;
  steps: number;
  model_calls: number;
  tool_calls: number;
  /** Position in the log that the row reflects */
  position: string;
};

export type RunEventPage = {
  data: (RunEvent)[];
  next_cursor: string | null;
  last_cursor: string | null;
  ended: boolean;
};

export type RunEvent = {
  run_id: string;
  type: string;
  time: string;
  position: string;
  actor: string;
  data: unknown;
};

export type RunPage = {
  data: (Run)[];
  next_cursor: string | null;
};

export type StepPage = {
  data: (Step)[];
  /** Pass it as after for the rest */
  next_after: number | null;
};

export type Step = {
  seq: number;
  kind: "model_turn" | "tool_call" | "approval";
};

export type RunInspection = {
  run: Run;
  /** Runs that it delegated to, at any depth */
  tree: ({
    run_id: string;
  })[];
  tree_truncated: boolean;
  /** The run and all below it together */
  totals: {
    runs: number;
    input_tokens: number;
    output_tokens: number;
    cached_tokens: number;
    total_tokens: number;
    model_calls: number;
    tool_calls: number;
  };
  steps: (Step)[];
  next_after: number | null;
};

export type Trajectory = {
  run_id: string;
  state: "queued" | "running" | "awaiting_approval" | "paused" | "waiting" | "succeeded" | "failed" | "cancelled" | "skipped";
  complete: boolean;
  /** Position in the log that the row reflects */
  position: string;
  entries: ({
    kind: string;
  })[];
  next_after: number | null;
};

export type ControlledRun = {
  run_id: string;
  state: "queued" | "running" | "awaiting_approval" | "paused" | "waiting" | "succeeded" | "failed" | "cancelled" | "skipped";
  /** Position in the log that the row reflects */
  position: string;
  /** The run that goes on where this one had ended */
  continuation?: SuccessorRun;
};

export type SuccessorRun = {
  run_id: string;
  source_run_id: string;
  /** null where intake has not answered yet */
  state: "queued" | "running" | "awaiting_approval" | "paused" | "waiting" | "succeeded" | "failed" | "cancelled" | "skipped" | null;
  reason: string | null;
  position: string | null;
  /** false where the key or the question named this run before */
  created: boolean | null;
};

export type Cancellation = {
  run_id: string;
  /** null: nobody has asked the run to be cancelled */
  requested_at: string | null;
  requested_by: string | null;
  reason: string | null;
  /** When the last of the tree ended; null as long as one has not */
  quiet_at: string | null;
  confirmed: boolean;
  /** Runs whose end is not in their log */
  unconfirmed: (string)[];
  tokens_after_request: number;
  runs: ({
    run_id: string;
    parent_run_id: string | null;
    agent_id: string | null;
    state: string;
    requested_at: string | null;
    quiet_at: string | null;
    confirmed: boolean;
    /** What was under way, and what became of it */
    stopped: ({
      kind: "model_call" | "tool_call";
      step: number;
      /** Model or tool */
      name: string;
      call_id: string | null;
      outcome: "completed" | "failed" | "cancelled" | "ambiguous" | "open";
    })[];
    calls_not_sent: number;
    tokens_after_request: number;
    estimated_tokens_after_request: number;
  })[];
  truncated: boolean;
};

export type RunsContinueSchema0 = string | number | boolean | null | (RunsContinueSchema0)[] | { [name: string]: RunsContinueSchema0 };

export type BulkAction = {
  bulk_action_id: string;
  action: "cancel" | "pause" | "resume" | "retry";
  /** As it was asked */
  filter: { [name: string]: unknown };
  state: "running" | "aborting" | "aborted" | "completed";
  requested_by: string;
  /** Runs chosen so far */
  runs: number;
  /** Whether those are all */
  chosen: boolean;
  /** Runs that have their result */
  handled: number;
  outcomes: {
    done: number;
    requested: number;
    refused: number;
  };
  created_at: string;
  abort_requested_at: string | null;
  abort_requested_by: string | null;
  ended_at: string | null;
  /** Position in the log that the row reflects; pass it as at_least */
  position: string;
};

export type BulkPreview = {
  action: "cancel" | "pause" | "resume" | "retry";
  preview: true;
  /** All runs that it would be, not a page of them */
  count: number;
  /** The newest of them */
  sample: (string)[];
};

export type BulkActionPage = {
  data: (BulkAction)[];
  next_cursor: string | null;
};

export type BulkResultPage = {
  data: (BulkResult)[];
  next_cursor: string | null;
};

export type BulkResult = {
  run_id: string;
  /** requested: its driver, or intake, has still to obey. null: not told anything, or not yet */
  outcome: "done" | "requested" | "refused" | null;
  /** State of the run when it had been told */
  state: string | null;
  /** Why it was refused */
  code: string | null;
  detail: string | null;
  /** The run that tries it again */
  new_run_id: string | null;
};

export type Conversation = {
  conversation_id: string;
  title: string;
  user_id: string | null;
  created_at: string;
};

export type ConversationPage = {
  data: (Conversation)[];
  next_cursor: string | null;
};

export type Change = {
  /** Position in the log that the row reflects; pass it as at_least to read your own write */
  position: string;
};

export type AgentsCreateSchema0 = string | number | boolean | null | (AgentsCreateSchema0)[] | { [name: string]: AgentsCreateSchema0 };

export type Agent = {
  agent_id: string;
  agent_version: number;
  owner_id: string;
  name: string;
  description: string;
  prompt: string;
  model_id: string | null;
  tools: (string)[];
  bounds: { [name: string]: unknown };
  approval_policy: "park" | "end";
  mode: "plan" | "ask" | "auto";
  concurrency: "agent" | "conversation" | "unlimited";
  overlap: "skip" | "queue" | "replace";
  catch_up: "latest" | "none";
  schedule: { [name: string]: unknown } | null;
  meta: { [name: string]: unknown };
  enabled: boolean;
  admin_paused: boolean;
  /** What keeps the agent from starting; empty when nothing does */
  start_conditions: ({
    code: string;
    reason: string;
  })[];
  /** Null: by hand only, switched off, locked, without model or owner. Absent: the scheduler cannot be asked now */
  next_run_at?: string | null;
  /** Send it as If-Match with the next change */
  etag: string;
  created_at: string;
  updated_at: string;
  /** Position in the log that the row reflects; pass it as at_least to read your own write */
  position: string;
};

export type AgentPage = {
  data: (Agent)[];
  next_cursor: string | null;
};

export type AgentsUpdateSchema0 = string | number | boolean | null | (AgentsUpdateSchema0)[] | { [name: string]: AgentsUpdateSchema0 };

export type AgentVersionPage = {
  data: (AgentVersion)[];
  next_cursor: string | null;
};

export type AgentVersion = {
  agent_id: string;
  agent_version: number;
  prompt: string;
  model_id: string | null;
  tools: (string)[];
  created_at: string;
  created_by: string;
};

export type VersionDiff = {
  agent_id: string;
  from: number;
  to: number;
  changes: ({
    field: string;
    /** Of texts: what both have, and what one of them has */
    lines?: ({
      kind: "same" | "removed" | "added";
      lines: (string)[];
    })[];
  })[];
};

export type SlotList = {
  data: (Slot)[];
};

export type Slot = {
  at: string;
  /** The same instant on the wall clock of `time_zone` */
  local: string;
  time_zone: string;
  /** gap: the asked-for time does not exist that day, this is the first instant after; fold: it exists twice, this is the first */
  mark: "gap" | "fold" | null;
};

export type Upcoming = {
  agent_id: string;
  /** Null: by hand only, or a start condition is closed, or the schedule never fires */
  next_run_at: string | null;
  /** A slot that waits for a run to end */
  waiting_since: string | null;
  slots: (Slot)[];
};

export type ApprovalPage = {
  data: (Approval)[];
  next_cursor: string | null;
};

export type Approval = {
  approval_id: string;
  /** ambiguous: the call went out and nobody knows what became of it */
  kind: "call" | "ambiguous";
  state: "pending" | "approved" | "denied" | "answered" | "expired" | "withdrawn";
  run_id: string;
  agent_id: string;
  agent_version: number;
  owner_id: string;
  step: number;
  call_id: string;
  tool: string;
  /** What the tool would be sent, as the model wrote it */
  arguments: { [name: string]: unknown };
  /** SHA-256 of the canonical arguments; a grant holds for these alone */
  arguments_digest: string;
  /** The rule that asked; null: the mode of the run did */
  rule_id: string | null;
  group_key: string | null;
  opened_at: string;
  expires_at: string;
  /** The last open question of its run: answering it sets the run going */
  blocking: boolean;
  decided_at: string | null;
  /** Who decided; system:approvals for an expiry, which is no denial */
  decided_by: string | null;
  verdict: "approve" | "deny" | "done" | "repeat" | "fail" | null;
  edited_arguments: { [name: string]: unknown } | null;
  message: { [name: string]: unknown } | null;
  whole_group: boolean;
  made_rule_id: string | null;
};

export type ApprovalInContext = {
  approval_id: string;
  /** ambiguous: the call went out and nobody knows what became of it */
  kind: "call" | "ambiguous";
  state: "pending" | "approved" | "denied" | "answered" | "expired" | "withdrawn";
  run_id: string;
  agent_id: string;
  agent_version: number;
  owner_id: string;
  step: number;
  call_id: string;
  tool: string;
  /** What the tool would be sent, as the model wrote it */
  arguments: { [name: string]: unknown };
  /** SHA-256 of the canonical arguments; a grant holds for these alone */
  arguments_digest: string;
  /** The rule that asked; null: the mode of the run did */
  rule_id: string | null;
  group_key: string | null;
  opened_at: string;
  expires_at: string;
  /** The last open question of its run: answering it sets the run going */
  blocking: boolean;
  decided_at: string | null;
  /** Who decided; system:approvals for an expiry, which is no denial */
  decided_by: string | null;
  verdict: "approve" | "deny" | "done" | "repeat" | "fail" | null;
  edited_arguments: { [name: string]: unknown } | null;
  message: { [name: string]: unknown } | null;
  whole_group: boolean;
  made_rule_id: string | null;
  /** What a reviewer changed in the arguments, place by place */
  changes: ({
    pointer: string;
  })[] | null;
  /** Null while the executor does not answer */
  run: { [name: string]: unknown } | null;
  last_steps: ({ [name: string]: unknown })[];
  rule: { [name: string]: unknown } | null;
  tool_definition: {
    name: string;
    effect: "read" | "write";
    input_schema: { [name: string]: unknown };
  } | null;
};

export type ApprovalsDecideSchema0 = string | number | boolean | null | (ApprovalsDecideSchema0)[] | { [name: string]: ApprovalsDecideSchema0 };

export type ApprovalsDecideSchema1 = string | number | boolean | null | (ApprovalsDecideSchema1)[] | { [name: string]: ApprovalsDecideSchema1 };

export type ApprovalsDecideSchema2 = string | number | boolean | null | (ApprovalsDecideSchema2)[] | { [name: string]: ApprovalsDecideSchema2 };

export type ApprovalDecision = {
  approval_id: string;
  run_id: string;
  call_id: string;
  verdict: "approve" | "deny" | "done" | "repeat" | "fail";
  decided_by: string;
  decided_at: string;
  arguments_digest: string;
  edited: boolean;
  whole_group: boolean;
  made_rule_id: string | null;
  position: string;
};

export type PermissionRulePage = {
  data: (PermissionRule)[];
  next_cursor: string | null;
};

export type PermissionRule = {
  rule_id: string;
  scope: {
    kind: "org" | "owner" | "agent";
  };
  tool: string;
  conditions: ({
    at: string;
    is: string;
  })[];
  decision: "allow" | "deny" | "ask";
  group_key: string | null;
  expires_at: string | null;
  note: string | null;
  /** The approval that the rule was made of */
  approval_id: string | null;
  author: string;
  created_at: string;
  position: string;
};

export type PermissionsAddSchema0 = string | number | boolean | null | (PermissionsAddSchema0)[] | { [name: string]: PermissionsAddSchema0 };

export type PermissionsAddSchema1 = string | number | boolean | null | (PermissionsAddSchema1)[] | { [name: string]: PermissionsAddSchema1 };

export type PermissionsEvaluateSchema0 = string | number | boolean | null | (PermissionsEvaluateSchema0)[] | { [name: string]: PermissionsEvaluateSchema0 };

export type Evaluation = {
  decision: "allow" | "deny" | "ask";
  decided_by: string;
  rule_id: string | null;
  group_key: string | null;
  policy_version: number;
  mode: "plan" | "ask" | "auto";
  effect: "read" | "write";
  reason: string;
  considered: ({
    rule_id: string;
    result: "won" | "outranked" | "not_matched";
    says: "allow" | "deny" | "ask" | null;
    why: string;
  })[];
};

export type TaskEventPage = {
  data: (TaskEvent)[];
  next_cursor: string | null;
  last_cursor: string | null;
};

export type TaskEvent = {
  task_id: string;
  type: string;
  time: string;
  /** Position in the log that the row reflects */
  position: string;
  actor: string;
  data: { [name: string]: unknown };
};

export type Task = {
  task_id: string;
  title: string;
  description: string;
  /** What counts as done */
  acceptance: string;
  status: "pending" | "running" | "completed" | "failed" | "cancelled";
  agent_id: string;
  /** Null: the agent's model */
  model_id: string | null;
  /** Loop steps of all its runs together */
  max_steps: number;
  steps_used: number;
  phase: "plan" | "act" | "verify" | "report" | null;
  current_step: number | null;
  round: number;
  steps_done: number;
  steps_total: number;
  report: string | null;
  /** Null also where the run was deleted */
  latest_run_id: string | null;
  column: string;
  /** Order within the column, compared by code units */
  rank: string | null;
  blocked_by: (string)[];
  review_plan: boolean;
  /** What the task waits for while nobody works on it */
  attention: "needs_input" | "plan_review" | "blocked" | null;
  attention_text: string | null;
  /** Why it failed or was cancelled */
  reason: string | null;
  stopping: boolean;
  user_id: string | null;
  created_at: string;
  updated_at: string;
  /** Sum over its runs */
  total_tokens: number;
  lock: TaskLock | null;
  /** Position in the log that the row reflects */
  position: string;
};

export type TaskLock = {
  /** Send it with every edit; it grows by one with every ownership */
  fence: number;
  lock_id: string;
  holder: string;
  expires_at: string;
  /** As of the answer: an expired lock keeps nobody out */
  expired: boolean;
};

export type TaskPage = {
  data: (Task)[];
  next_cursor: string | null;
};

export type TaskActivityPage = {
  data: (TaskActivity)[];
  next_cursor: string | null;
};

export type TaskActivity = {
  at: string;
  type: string;
  task_id: string;
  title: string;
  actor: string;
  summary: string;
  /** Position in the log that the row reflects */
  position: string;
};

export type TaskStepList = {
  data: (TaskStep)[];
};

export type TaskStep = {
  seq: number;
  title: string;
  detail: string;
  status: "pending" | "running" | "completed" | "failed" | "cancelled";
  result: string | null;
  run_id: string | null;
};

export type CardPlace = {
  task_id: string;
  column: string;
  rank: string;
  /** Position in the log that the row reflects */
  position: string;
};

export type TaskLockAnswer = {
  task_id: string;
  lock: TaskLock | null;
  position?: string;
};

export type TaskClaim = {
  /** Null: nothing is free */
  task_id: string | null;
  lock: TaskLock | null;
};

export type TaskRunList = {
  data: (TaskRun)[];
};

export type TaskRun = {
  run_id: string | null;
  phase: "plan" | "act" | "verify" | "report";
  step: number | null;
  round: number;
  state: string;
  reason: string | null;
  steps: number;
  total_tokens: number;
  requested_at: string;
  ended_at: string | null;
};

export type ActivityPage = {
  data: (Activity)[];
  next_cursor: string | null;
};

export type Activity = {
  time: string;
  topic: "starts" | "ends" | "decisions" | "controls" | "locks" | "board" | "agents";
  /** <thing>.<what happened>, for example run.failed */
  kind: string;
  /** user:<uuid>, service:<key id> or system:<part> */
  actor: string;
  subject: {
    kind: "run" | "approval" | "rule" | "task" | "agent";
    id: string;
  };
  agent_id: string | null;
  run_id: string | null;
  task_id: string | null;
  /** What the actor did, in one line: names, numbers and codes, never content */
  summary: string;
  /** Stream of the event that the entry is made of */
  stream: string;
  /** Position of that event in its stream */
  position: string;
};

export type BudgetPage = {
  data: (Budget)[];
  next_cursor: string | null;
};

export type Budget = {
  owner_id: string;
  /** The date of its Sunday */
  week: string;
  starts_at: string;
  ends_at: string;
  time_zone: string;
  state: "open" | "closed";
  cap: number | null;
  /** Tokens of runs that ended in the week, with all that they delegated */
  settled: number;
  /** Tokens that unfinished runs hold */
  reserved: number;
  /** null where no cap applies */
  left: number | null;
};

export type CapPage = {
  data: (Cap)[];
  next_cursor: string | null;
};

export type Cap = {
  /** null: the default of the organization */
  owner_id: string | null;
  /** Tokens a week; null: no cap */
  tokens: number | null;
  source: "owner" | "default";
  /** Send it as If-Match with the next change */
  etag: string;
};

export type SpendReport = {
  data: (Spend)[];
  /** The prices that were used, per million tokens */
  prices: ({
    model_id: string;
    currency: string;
    input: string;
    output: string;
    cached: string;
    valid_from: string;
  })[];
};

export type Spend = {
  owner_id?: string;
  agent_id?: string;
  model_id?: string;
  tier?: string;
  day?: string;
  week?: string;
  runs: number;
  calls: number;
  input_tokens: number;
  output_tokens: number;
  /** Part of input_tokens */
  cached_tokens: number;
  total_tokens: number;
  /** Part of total_tokens that no provider reported */
  estimated_tokens: number;
  money: ({
    currency: string;
    /** Decimal text; derived from dated prices */
    amount: string;
  })[];
  /** Part of total_tokens that had no price */
  unpriced_tokens: number;
};

export type ForecastList = {
  data: (Forecast)[];
};

export type Forecast = {
  owner_id: string;
  /** The date of its Sunday */
  week: string;
  starts_at: string;
  ends_at: string;
  time_zone: string;
  state: "open" | "closed";
  cap: number | null;
  /** Tokens of runs that ended in the week, with all that they delegated */
  settled: number;
  /** Tokens that unfinished runs hold */
  reserved: number;
  /** null where no cap applies */
  left: number | null;
  /** Mean of the last seven days */
  tokens_per_day: number;
  /** Settled at the end of the week if that goes on */
  expected: number;
  cap_reached_at: string | null;
};

export type ModelList = {
  data: (Model)[];
};

export type Model = {
  model_id: string;
  label: string;
  tier: string;
  provider: {
    kind: string;
  };
  model: string;
  context_window: number;
  max_output_tokens: number;
  fallbacks: (string)[];
  is_default: boolean;
};

export type ToolList = {
  data: (Tool)[];
};

export type Tool = {
  name: string;
  description: string;
  input_schema: { [name: string]: unknown };
  effect: "read" | "write";
  idempotent: boolean;
  agents_allowed: boolean;
  timeout_ms: number;
  ends_run: boolean;
};

export type ToolsRegisterSchema0 = string | number | boolean | null | (ToolsRegisterSchema0)[] | { [name: string]: ToolsRegisterSchema0 };

export type ToolsUpdateSchema0 = string | number | boolean | null | (ToolsUpdateSchema0)[] | { [name: string]: ToolsUpdateSchema0 };

export type PlatformPrompt = {
  prompt: string;
};

export type Me = {
  org_id: string;
  actor: string;
  user_id: string | null;
  roles: ("member" | "reviewer" | "admin" | "operator" | "service")[];
};

export type Organization = {
  org_id: string;
  name: string;
  time_zone: string;
  /** Days that runs are kept after they began; null: for ever */
  retention_days: number | null;
  created_at: string;
};

export type UserPage = {
  data: (User)[];
  next_cursor: string | null;
};

export type User = {
  user_id: string;
  email: string;
  name: string;
  time_zone: string | null;
  roles: ("member" | "reviewer" | "admin" | "operator" | "service")[];
  active: boolean;
  created_at: string;
};

export type KeyPage = {
  data: (Key)[];
  next_cursor: string | null;
};

export type Key = {
  key_id: string;
  label: string;
  roles: ("member" | "reviewer" | "admin" | "operator" | "service")[];
  user_id: string | null;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
};

export type CreatedKey = {
  key_id: string;
  label: string;
  /** The key itself, shown in this answer only; null when the answer is replayed */
  key: string | null;
};

export type Document = {
  document_id: string;
  /** Null: an application uploaded it */
  owner_id: string | null;
  title: string;
  source: string;
  language: string;
  bytes: number;
  characters: number;
  access: {
    everyone: boolean;
    users: (string)[];
    groups: (string)[];
  };
  created_at: string;
  updated_at: string;
  /** Send it as If-Match with the next change */
  etag: string;
  position: string;
};

export type DocumentPage = {
  data: (Document)[];
  next_cursor: string | null;
};

export type PassageList = {
  results: ({
    document_id: string;
    title: string;
    offset: number;
    text: string;
  })[];
};

export type McpAnswer = {
  jsonrpc: string;
};

export type Group = {
  group_id: string;
  name: string;
  members: number;
  created_at: string;
  position: string;
};

export type GroupPage = {
  data: (Group)[];
  next_cursor: string | null;
};

export type ProblemPage = {
  code: string;
  title: string;
  status: number;
  retryable: boolean;
  meaning: string;
  remedy: string;
};

export type Problem = {
  /** URL of the page of this problem */
  type: string;
  title: string;
  status: number;
  detail: string;
  instance: string;
  code: "invalid_request" | "malformed_json" | "invalid_cursor" | "unauthenticated" | "forbidden" | "not_found" | "method_not_allowed" | "conflict" | "idempotency_key_reused" | "request_in_progress" | "conversation_busy" | "already_exists" | "agent_disabled" | "agent_locked" | "agent_without_model" | "owner_inactive" | "run_not_controllable" | "approval_decided" | "approval_expired" | "approval_withdrawn" | "rule_outranks_deny" | "task_locked" | "task_lock_lost" | "task_blocked" | "task_running" | "cursor_expired" | "version_mismatch" | "payload_too_large" | "unsupported_media_type" | "idempotency_key_mismatch" | "rate_limited" | "internal" | "unavailable";
  request_id: string;
  retryable: boolean;
  errors?: ({
    pointer: string;
    detail: string;
  })[];
};

/** Every route, with what it takes and what it answers. */
export interface Operations {
  /** Start a run. */
  "POST /v1/runs": {
    path: {};
    query: { stream?: boolean };
    body: {
      agent_id: string;
      input: string;
      conversation_id?: string;
      bounds?: {
        max_steps?: number;
        max_tool_calls?: number;
        token_budget?: number;
        deadline_seconds?: number;
        max_depth?: number;
      };
      mode?: "plan" | "ask" | "auto";
      purpose?: "eval";
    };
    answer: Run | StartedRun;
  };
  /** List runs, newest first. */
  "GET /v1/runs": {
    path: {};
    query: { limit?: number; cursor?: string; at_least?: string; agent_id?: string; state?: "queued" | "running" | "awaiting_approval" | "paused" | "waiting" | "succeeded" | "failed" | "cancelled" | "skipped"; status?: "running" | "completed" | "budget_exhausted" | "spend_limit_exceeded" | "error" | "cancelled" | "skipped"; termination?: "Completed" | "BudgetExceeded" | "Deadline" | "ConfirmationPending" | "ToolFailure" | "Refused" | "Error" | "Cancelled"; parent_run_id?: string; source_run_id?: string; bulk_action_id?: string; conversation_id?: string; trigger?: "manual" | "scheduled" | "requested" | "delegated" | "task" | "continuation" | "fork" | "eval"; user_id?: string; from?: string; to?: string };
    body?: undefined;
    answer: RunPage;
  };
  /** Watch or read the events of a run. */
  "GET /v1/runs/{run_id}/events": {
    path: { run_id: string };
    query: { after?: string; limit?: number };
    body?: undefined;
    answer: RunEventPage;
  };
  /** Read a run, as it is or as it was. */
  "GET /v1/runs/{run_id}": {
    path: { run_id: string };
    query: { at_least?: string; as_of?: string };
    body?: undefined;
    answer: Run;
  };
  /** Delete a run. */
  "DELETE /v1/runs/{run_id}": {
    path: { run_id: string };
    query: {};
    body?: undefined;
    answer: ControlledRun;
  };
  /** Read the steps of a run so far. */
  "GET /v1/runs/{run_id}/steps": {
    path: { run_id: string };
    query: { at_least?: string; after?: number; limit?: number };
    body?: undefined;
    answer: StepPage;
  };
  /** Read a run whole, with its tree. */
  "GET /v1/runs/{run_id}/inspect": {
    path: { run_id: string };
    query: { at_least?: string };
    body?: undefined;
    answer: RunInspection;
  };
  /** Read the trajectory of an ended run. */
  "GET /v1/runs/{run_id}/trajectory": {
    path: { run_id: string };
    query: { at_least?: string; after?: number; limit?: number };
    body?: undefined;
    answer: Trajectory;
  };
  /** Cancel a run. */
  "POST /v1/runs/{run_id}/cancel": {
    path: { run_id: string };
    query: {};
    body?: undefined;
    answer: ControlledRun;
  };
  /** Pause a run. */
  "POST /v1/runs/{run_id}/pause": {
    path: { run_id: string };
    query: {};
    body?: undefined;
    answer: ControlledRun;
  };
  /** Resume a paused run. */
  "POST /v1/runs/{run_id}/resume": {
    path: { run_id: string };
    query: {};
    body?: undefined;
    answer: ControlledRun;
  };
  /** Raise the bounds of a run. */
  "POST /v1/runs/{run_id}/extend": {
    path: { run_id: string };
    query: {};
    body?: {
      steps?: number;
      tool_calls?: number;
      tokens?: number;
      seconds?: number;
    };
    answer: ControlledRun;
  };
  /** Set what writing tools may do. */
  "POST /v1/runs/{run_id}/mode": {
    path: { run_id: string };
    query: {};
    body: {
      mode: "plan" | "ask" | "auto";
    };
    answer: ControlledRun;
  };
  /** Read what a cancel came to. */
  "GET /v1/runs/{run_id}/cancellation": {
    path: { run_id: string };
    query: {};
    body?: undefined;
    answer: Cancellation;
  };
  /** Fork a run from one of its steps. */
  "POST /v1/runs/{run_id}/fork": {
    path: { run_id: string };
    query: {};
    body?: {
      step?: number;
      prompt?: string;
      model_id?: string;
      tools?: (string)[];
      input?: string;
      repeat_writes?: boolean;
      bounds?: {
        max_steps?: number;
        max_tool_calls?: number;
        token_budget?: number;
        deadline_seconds?: number;
        max_depth?: number;
      };
      mode?: "plan" | "ask" | "auto";
    };
    answer: SuccessorRun;
  };
  /** Try a run again. */
  "POST /v1/runs/{run_id}/retry": {
    path: { run_id: string };
    query: {};
    body?: undefined;
    answer: SuccessorRun;
  };
  /** Continue a run with the decision that it ended for want of. */
  "POST /v1/runs/{run_id}/continue": {
    path: { run_id: string };
    query: {};
    body: {
      approval_id: string;
      verdict: "approve" | "deny" | "done" | "repeat" | "fail";
      arguments?: { [name: string]: RunsContinueSchema0 };
      message?: string;
    };
    answer: SuccessorRun;
  };
  /** Cancel, pause, resume or retry all runs that a filter finds. */
  "POST /v1/bulk-actions": {
    path: {};
    query: {};
    body: {
      action: "cancel" | "pause" | "resume" | "retry";
      filter: {
        agent_id?: string;
        state?: "queued" | "running" | "awaiting_approval" | "paused" | "waiting" | "succeeded" | "failed" | "cancelled" | "skipped";
        status?: "running" | "completed" | "budget_exhausted" | "spend_limit_exceeded" | "error" | "cancelled" | "skipped";
        termination?: "Completed" | "BudgetExceeded" | "Deadline" | "ConfirmationPending" | "ToolFailure" | "Refused" | "Error" | "Cancelled";
        parent_run_id?: string;
        source_run_id?: string;
        bulk_action_id?: string;
        conversation_id?: string;
        trigger?: "manual" | "scheduled" | "requested" | "delegated" | "task" | "continuation" | "fork" | "eval";
        user_id?: string;
        from?: string;
        to?: string;
      };
      preview?: boolean;
    };
    answer: BulkPreview | BulkAction;
  };
  /** List bulk actions, newest first. */
  "GET /v1/bulk-actions": {
    path: {};
    query: { limit?: number; cursor?: string; at_least?: string; state?: "running" | "aborting" | "aborted" | "completed" };
    body?: undefined;
    answer: BulkActionPage;
  };
  /** Read how far a bulk action is. */
  "GET /v1/bulk-actions/{bulk_action_id}": {
    path: { bulk_action_id: string };
    query: { at_least?: string };
    body?: undefined;
    answer: BulkAction;
  };
  /** Read what became of each run of a bulk action. */
  "GET /v1/bulk-actions/{bulk_action_id}/results": {
    path: { bulk_action_id: string };
    query: { limit?: number; cursor?: string; at_least?: string; outcome?: "done" | "requested" | "refused" | "none" };
    body?: undefined;
    answer: BulkResultPage;
  };
  /** Abort a bulk action. */
  "POST /v1/bulk-actions/{bulk_action_id}/abort": {
    path: { bulk_action_id: string };
    query: {};
    body?: undefined;
    answer: BulkAction;
  };
  /** Create a conversation. */
  "POST /v1/conversations": {
    path: {};
    query: {};
    body?: {
      conversation_id?: string;
      title?: string;
    };
    answer: Conversation;
  };
  /** List conversations, newest first. */
  "GET /v1/conversations": {
    path: {};
    query: { limit?: number; cursor?: string; at_least?: string; user_id?: string };
    body?: undefined;
    answer: ConversationPage;
  };
  /** Read a conversation. */
  "GET /v1/conversations/{conversation_id}": {
    path: { conversation_id: string };
    query: { at_least?: string };
    body?: undefined;
    answer: Conversation;
  };
  /** Delete a conversation and its runs. */
  "DELETE /v1/conversations/{conversation_id}": {
    path: { conversation_id: string };
    query: {};
    body?: undefined;
    answer: Change;
  };
  /** Create an agent. */
  "POST /v1/agents": {
    path: {};
    query: {};
    body: {
      agent_id: string;
      owner_id?: string;
      name: string;
      description?: string;
      prompt: string;
      model_id?: string | null;
      tools?: (string)[];
      bounds?: {
        max_steps?: number;
        max_tool_calls?: number;
        token_budget?: number;
        deadline_seconds?: number;
        max_depth?: number;
      };
      approval_policy?: "park" | "end";
      mode?: "plan" | "ask" | "auto";
      concurrency?: "agent" | "conversation" | "unlimited";
      overlap?: "skip" | "queue" | "replace";
      catch_up?: "latest" | "none";
      schedule?: {
        type: "interval";
        every_hours: number;
      } | {
        type: "calendar";
        cadence: "daily" | "weekly";
        weekday?: number;
        time: string;
      } | {
        type: "cron";
        expression: string;
        time_zone: string;
      } | null;
      meta?: { [name: string]: AgentsCreateSchema0 };
      enabled?: boolean;
    };
    answer: Agent;
  };
  /** List agents by name. */
  "GET /v1/agents": {
    path: {};
    query: { limit?: number; cursor?: string; at_least?: string; owner_id?: string; model_id?: string; enabled?: boolean; admin_paused?: boolean; search?: string };
    body?: undefined;
    answer: AgentPage;
  };
  /** Read an agent, as it is or as it was. */
  "GET /v1/agents/{agent_id}": {
    path: { agent_id: string };
    query: { at_least?: string; as_of?: string };
    body?: undefined;
    answer: Agent;
  };
  /** Change an agent. */
  "PATCH /v1/agents/{agent_id}": {
    path: { agent_id: string };
    query: {};
    body?: {
      name?: string;
      description?: string;
      prompt?: string;
      model_id?: string | null;
      tools?: (string)[];
      bounds?: {
        max_steps?: number;
        max_tool_calls?: number;
        token_budget?: number;
        deadline_seconds?: number;
        max_depth?: number;
      };
      approval_policy?: "park" | "end";
      mode?: "plan" | "ask" | "auto";
      concurrency?: "agent" | "conversation" | "unlimited";
      overlap?: "skip" | "queue" | "replace";
      catch_up?: "latest" | "none";
      schedule?: {
        type: "interval";
        every_hours: number;
      } | {
        type: "calendar";
        cadence: "daily" | "weekly";
        weekday?: number;
        time: string;
      } | {
        type: "cron";
        expression: string;
        time_zone: string;
      } | null;
      meta?: { [name: string]: AgentsUpdateSchema0 };
    };
    answer: Agent;
  };
  /** Delete an agent. */
  "DELETE /v1/agents/{agent_id}": {
    path: { agent_id: string };
    query: { history?: "keep" | "purge" };
    body?: undefined;
    answer: Change;
  };
  /** Switch an agent on (its owner only). */
  "POST /v1/agents/{agent_id}/enable": {
    path: { agent_id: string };
    query: {};
    body?: {
      reason?: string | null;
    };
    answer: Agent;
  };
  /** Switch an agent off. */
  "POST /v1/agents/{agent_id}/disable": {
    path: { agent_id: string };
    query: {};
    body?: {
      reason?: string | null;
    };
    answer: Agent;
  };
  /** Lock an agent; its owner cannot release it. */
  "POST /v1/agents/{agent_id}/lock": {
    path: { agent_id: string };
    query: {};
    body?: {
      reason?: string | null;
    };
    answer: Agent;
  };
  /** Release the lock of an agent. */
  "POST /v1/agents/{agent_id}/unlock": {
    path: { agent_id: string };
    query: {};
    body?: {
      reason?: string | null;
    };
    answer: Agent;
  };
  /** List the versions of an agent, newest first. */
  "GET /v1/agents/{agent_id}/versions": {
    path: { agent_id: string };
    query: { limit?: number; cursor?: string; at_least?: string };
    body?: undefined;
    answer: AgentVersionPage;
  };
  /** Read one version of an agent. */
  "GET /v1/agents/{agent_id}/versions/{version}": {
    path: { agent_id: string; version: number };
    query: { at_least?: string };
    body?: undefined;
    answer: AgentVersion;
  };
  /** Read what a version changed, field by field. */
  "GET /v1/agents/{agent_id}/versions/{version}/diff": {
    path: { agent_id: string; version: number };
    query: { from?: number; at_least?: string };
    body?: undefined;
    answer: VersionDiff;
  };
  /** Go back to an old version: its behaviour becomes a new one. */
  "POST /v1/agents/{agent_id}/versions/{version}/restore": {
    path: { agent_id: string; version: number };
    query: {};
    body?: undefined;
    answer: Agent;
  };
  /** Preview the next slots of a schedule that need not be saved. */
  "POST /v1/schedules/preview": {
    path: {};
    query: {};
    body: {
      schedule: {
        type: "interval";
        every_hours: number;
      } | {
        type: "calendar";
        cadence: "daily" | "weekly";
        weekday?: number;
        time: string;
      } | {
        type: "cron";
        expression: string;
        time_zone: string;
      };
      time_zone?: string;
      from?: string;
      count?: number;
    };
    answer: SlotList;
  };
  /** Read when an agent will run next. */
  "GET /v1/agents/{agent_id}/upcoming": {
    path: { agent_id: string };
    query: { at_least?: string; count?: number };
    body?: undefined;
    answer: Upcoming;
  };
  /** List approvals: what waits, or what became of it. */
  "GET /v1/approvals": {
    path: {};
    query: { limit?: number; cursor?: string; at_least?: string; state?: "pending" | "approved" | "denied" | "answered" | "expired" | "withdrawn"; run_id?: string; agent_id?: string; group_key?: string };
    body?: undefined;
    answer: ApprovalPage;
  };
  /** Read an approval with all that a decision needs. */
  "GET /v1/approvals/{approval_id}": {
    path: { approval_id: string };
    query: { at_least?: string };
    body?: undefined;
    answer: ApprovalInContext;
  };
  /** Decide an approval. */
  "POST /v1/approvals/{approval_id}/decision": {
    path: { approval_id: string };
    query: {};
    body: {
      verdict: "approve" | "deny" | "done" | "repeat" | "fail";
      arguments?: ApprovalsDecideSchema0;
      message?: string;
      whole_group?: boolean;
      rule?: {
        scope?: {
          kind: "org";
        } | {
          kind: "owner";
          owner_id: string;
        } | {
          kind: "agent";
          agent_id: string;
        };
        conditions?: ({
          at: string;
          is: "present" | "absent";
        } | {
          at: string;
          is: "equals";
          value: ApprovalsDecideSchema1;
        } | {
          at: string;
          is: "one_of";
          values: (ApprovalsDecideSchema2)[];
        } | {
          at: string;
          is: "like";
          pattern: string;
        } | {
          at: string;
          is: "at_least" | "at_most";
          value: number;
        } | {
          at: string;
          is: "command";
          patterns: (string)[];
        } | {
          at: string;
          is: "path_within";
          directories: (string)[];
        } | {
          at: string;
          is: "url";
          hosts: (string)[];
          schemes?: (string)[];
          ports?: (number)[];
          path?: string;
        })[];
        expires_at?: string | null;
        note?: string | null;
      };
    };
    answer: ApprovalDecision;
  };
  /** List permission rules, newest first. */
  "GET /v1/permission-rules": {
    path: {};
    query: { limit?: number; cursor?: string; at_least?: string; agent_id?: string; owner_id?: string; tool?: string; decision?: "allow" | "deny" | "ask" };
    body?: undefined;
    answer: PermissionRulePage;
  };
  /** Add a permission rule. */
  "POST /v1/permission-rules": {
    path: {};
    query: {};
    body: {
      scope: {
        kind: "org";
      } | {
        kind: "owner";
        owner_id: string;
      } | {
        kind: "agent";
        agent_id: string;
      };
      tool: string;
      conditions?: ({
        at: string;
        is: "present" | "absent";
      } | {
        at: string;
        is: "equals";
        value: PermissionsAddSchema0;
      } | {
        at: string;
        is: "one_of";
        values: (PermissionsAddSchema1)[];
      } | {
        at: string;
        is: "like";
        pattern: string;
      } | {
        at: string;
        is: "at_least" | "at_most";
        value: number;
      } | {
        at: string;
        is: "command";
        patterns: (string)[];
      } | {
        at: string;
        is: "path_within";
        directories: (string)[];
      } | {
        at: string;
        is: "url";
        hosts: (string)[];
        schemes?: (string)[];
        ports?: (number)[];
        path?: string;
      })[];
      decision: "allow" | "deny" | "ask";
      group_key?: string | null;
      expires_at?: string | null;
      note?: string | null;
    };
    answer: PermissionRule;
  };
  /** Ask what would decide a call, and why. */
  "POST /v1/permission-rules/evaluate": {
    path: {};
    query: {};
    body: {
      agent_id: string;
      tool: string;
      arguments?: PermissionsEvaluateSchema0;
      mode?: "plan" | "ask" | "auto";
      effect?: "read" | "write";
    };
    answer: Evaluation;
  };
  /** Read a permission rule; removed ones stay readable. */
  "GET /v1/permission-rules/{rule_id}": {
    path: { rule_id: string };
    query: { at_least?: string };
    body?: undefined;
    answer: PermissionRule;
  };
  /** Remove a permission rule. */
  "DELETE /v1/permission-rules/{rule_id}": {
    path: { rule_id: string };
    query: {};
    body?: undefined;
    answer: Change;
  };
  /** Watch or read the changes of the board. */
  "GET /v1/tasks/events": {
    path: {};
    query: { after?: string; limit?: number };
    body?: undefined;
    answer: TaskEventPage;
  };
  /** Put a task on the board. */
  "POST /v1/tasks": {
    path: {};
    query: {};
    body: {
      title: string;
      description?: string;
      acceptance?: string;
      agent_id: string;
      model_id?: string | null;
      max_steps?: number;
      blocked_by?: (string)[];
      review_plan?: boolean;
      column?: string;
    };
    answer: Task;
  };
  /** List tasks. */
  "GET /v1/tasks": {
    path: {};
    query: { limit?: number; cursor?: string; at_least?: string; status?: "pending" | "running" | "completed" | "failed" | "cancelled"; column?: string; agent_id?: string; user_id?: string; as_of?: string };
    body?: undefined;
    answer: TaskPage;
  };
  /** Read what happened on the board, newest first. */
  "GET /v1/tasks/activity": {
    path: {};
    query: { limit?: number; cursor?: string; at_least?: string; task_id?: string };
    body?: undefined;
    answer: TaskActivityPage;
  };
  /** Read a task with its lock and its dependencies. */
  "GET /v1/tasks/{task_id}": {
    path: { task_id: string };
    query: { at_least?: string; as_of?: string };
    body?: undefined;
    answer: Task;
  };
  /** Change a task under its lock. */
  "PATCH /v1/tasks/{task_id}": {
    path: { task_id: string };
    query: {};
    body: {
      fence: number;
      title?: string;
      description?: string;
      acceptance?: string;
      agent_id?: string;
      model_id?: string | null;
      max_steps?: number;
      blocked_by?: (string)[];
      review_plan?: boolean;
    };
    answer: Task;
  };
  /** Delete a task under its lock, with its steps and its lock. */
  "DELETE /v1/tasks/{task_id}": {
    path: { task_id: string };
    query: { fence?: number };
    body?: undefined;
    answer: Change;
  };
  /** Read the plan and what came of it. */
  "GET /v1/tasks/{task_id}/steps": {
    path: { task_id: string };
    query: { at_least?: string; as_of?: string };
    body?: undefined;
    answer: TaskStepList;
  };
  /** Write the plan by hand, before its first step is done. */
  "PUT /v1/tasks/{task_id}/steps": {
    path: { task_id: string };
    query: {};
    body: {
      fence: number;
      steps: ({
        title: string;
        detail?: string;
      })[];
    };
    answer: Task;
  };
  /** Move a card to a column and place. */
  "POST /v1/tasks/{task_id}/move": {
    path: { task_id: string };
    query: {};
    body: {
      column: string;
      after?: string | null;
      index?: number;
    };
    answer: CardPlace;
  };
  /** Lock a task for edits. */
  "POST /v1/tasks/{task_id}/lock": {
    path: { task_id: string };
    query: {};
    body?: {
      lock_id?: string;
      ttl_seconds?: number;
      steal?: boolean;
    };
    answer: TaskLockAnswer;
  };
  /** Renew a live lock (heartbeat). */
  "PUT /v1/tasks/{task_id}/lock": {
    path: { task_id: string };
    query: {};
    body: {
      fence: number;
      ttl_seconds?: number;
    };
    answer: TaskLockAnswer;
  };
  /** Release a lock. */
  "DELETE /v1/tasks/{task_id}/lock": {
    path: { task_id: string };
    query: { fence?: number };
    body?: undefined;
    answer: TaskLockAnswer;
  };
  /** Read who holds a task. */
  "GET /v1/tasks/{task_id}/lock": {
    path: { task_id: string };
    query: {};
    body?: undefined;
    answer: TaskLockAnswer;
  };
  /** Lock the next task that nobody is at work on. */
  "POST /v1/tasks/claim": {
    path: {};
    query: {};
    body?: {
      column?: string;
      agent_id?: string;
      lock_id?: string;
      ttl_seconds?: number;
    };
    answer: TaskClaim;
  };
  /** Have the agent work on a task, or go on with it. */
  "POST /v1/tasks/{task_id}/start": {
    path: { task_id: string };
    query: {};
    body?: {
      note?: string;
    };
    answer: Task;
  };
  /** Stop a task: its run is cancelled. */
  "POST /v1/tasks/{task_id}/stop": {
    path: { task_id: string };
    query: {};
    body?: undefined;
    answer: Task;
  };
  /** Complete a task that was worked on by hand, under its lock. */
  "POST /v1/tasks/{task_id}/complete": {
    path: { task_id: string };
    query: {};
    body: {
      fence: number;
      report: string;
    };
    answer: Task;
  };
  /** Read the runs of a task and what they spent. */
  "GET /v1/tasks/{task_id}/runs": {
    path: { task_id: string };
    query: { at_least?: string };
    body?: undefined;
    answer: TaskRunList;
  };
  /** Read what happened, newest first. */
  "GET /v1/activity": {
    path: {};
    query: { limit?: number; cursor?: string; topic?: "starts" | "ends" | "decisions" | "controls" | "locks" | "board" | "agents"; kind?: string; agent_id?: string; run_id?: string; task_id?: string; actor?: string; from?: string; to?: string };
    body?: undefined;
    answer: ActivityPage;
  };
  /** List how the running weeks of owners stand, or those of a given week. */
  "GET /v1/budgets": {
    path: {};
    query: { limit?: number; cursor?: string; at_least?: string; week?: string; as_of?: string };
    body?: undefined;
    answer: BudgetPage;
  };
  /** Read how an owner’s running week stands, or an earlier one. */
  "GET /v1/budgets/{owner_id}": {
    path: { owner_id: string };
    query: { week?: string; as_of?: string };
    body?: undefined;
    answer: Budget;
  };
  /** List the default cap and the owners that have one of their own. */
  "GET /v1/budget-caps": {
    path: {};
    query: { limit?: number; cursor?: string; at_least?: string };
    body?: undefined;
    answer: CapPage;
  };
  /** Read the cap of owners that have none of their own. */
  "GET /v1/budget-caps/default": {
    path: {};
    query: {};
    body?: undefined;
    answer: Cap;
  };
  /** Set the cap of owners that have none of their own. */
  "PUT /v1/budget-caps/default": {
    path: {};
    query: {};
    body: {
      tokens: number | null;
    };
    answer: Cap;
  };
  /** Read the cap that holds for an owner. */
  "GET /v1/budget-caps/owners/{owner_id}": {
    path: { owner_id: string };
    query: {};
    body?: undefined;
    answer: Cap;
  };
  /** Give an owner a cap of their own. */
  "PUT /v1/budget-caps/owners/{owner_id}": {
    path: { owner_id: string };
    query: {};
    body: {
      tokens: number | null;
    };
    answer: Cap;
  };
  /** Take an owner’s own cap away; the default holds again. */
  "DELETE /v1/budget-caps/owners/{owner_id}": {
    path: { owner_id: string };
    query: {};
    body?: undefined;
    answer: Cap;
  };
  /** Add up what was spent. */
  "GET /v1/spend": {
    path: {};
    query: { group_by?: string; from?: string; to?: string; owner_id?: string; agent_id?: string; model_id?: string; at_least?: string };
    body?: undefined;
    answer: SpendReport;
  };
  /** Read where running weeks are heading. */
  "GET /v1/spend/forecast": {
    path: {};
    query: { owner_id?: string };
    body?: undefined;
    answer: ForecastList;
  };
  /** List the allowed models. */
  "GET /v1/models": {
    path: {};
    query: { at_least?: string };
    body?: undefined;
    answer: ModelList;
  };
  /** Allow a model. */
  "POST /v1/models": {
    path: {};
    query: {};
    body: {
      model_id: string;
      label: string;
      tier: string;
      provider: {
        kind: "openai-compatible";
        base_url: string;
        credential?: string;
        headers?: { [name: string]: string };
      } | {
        kind: "anthropic";
        base_url?: string;
        credential: string;
      } | {
        kind: "recorded";
        recording: string;
      };
      model: string;
      context_window: number;
      max_output_tokens?: number;
      prices?: ({
        currency: string;
        input: string;
        output: string;
        cached: string;
        valid_from: string;
      })[];
      fallbacks?: (string)[];
      is_default?: boolean;
    };
    answer: Model;
  };
  /** Change an allowed model or repoint its route. */
  "PATCH /v1/models/{model_id}": {
    path: { model_id: string };
    query: {};
    body?: {
      label?: string;
      tier?: string;
      provider?: {
        kind: "openai-compatible";
        base_url: string;
        credential?: string;
        headers?: { [name: string]: string };
      } | {
        kind: "anthropic";
        base_url?: string;
        credential: string;
      } | {
        kind: "recorded";
        recording: string;
      };
      model?: string;
      context_window?: number;
      max_output_tokens?: number;
      prices?: ({
        currency: string;
        input: string;
        output: string;
        cached: string;
        valid_from: string;
      })[];
      fallbacks?: (string)[];
    };
    answer: Model;
  };
  /** Remove a model; agents that used it stop. */
  "DELETE /v1/models/{model_id}": {
    path: { model_id: string };
    query: {};
    body?: undefined;
    answer: Change;
  };
  /** Make a model the default of new agents. */
  "POST /v1/models/{model_id}/default": {
    path: { model_id: string };
    query: {};
    body?: undefined;
    answer: Model;
  };
  /** List the tool catalogue. */
  "GET /v1/tools": {
    path: {};
    query: { at_least?: string };
    body?: undefined;
    answer: ToolList;
  };
  /** Register a tool. */
  "POST /v1/tools": {
    path: {};
    query: {};
    body: {
      name: string;
      description: string;
      input_schema: { [name: string]: ToolsRegisterSchema0 };
      effect: "read" | "write";
      idempotent?: boolean;
      source: {
        kind: "builtin";
        name: string;
      } | {
        kind: "http";
        method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
        url: string;
        headers?: { [name: string]: string };
        credential?: string;
      } | {
        kind: "mcp";
        server: {
          name: string;
          transport: "stdio";
          command: string;
          args?: (string)[];
          env?: { [name: string]: string };
        } | {
          name: string;
          transport: "http";
          url: string;
          credential?: string;
        };
        tool: string;
      } | {
        kind: "agent";
        agent_id: string;
        token_budget?: number;
      } | {
        kind: "recorded";
        recording: string;
      };
      timeout_ms?: number;
      ends_run?: boolean;
      agents_allowed?: boolean;
    };
    answer: Tool;
  };
  /** Change a tool. */
  "PATCH /v1/tools/{name}": {
    path: { name: string };
    query: {};
    body?: {
      description?: string;
      input_schema?: { [name: string]: ToolsUpdateSchema0 };
      effect?: "read" | "write";
      idempotent?: boolean;
      source?: {
        kind: "builtin";
        name: string;
      } | {
        kind: "http";
        method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
        url: string;
        headers?: { [name: string]: string };
        credential?: string;
      } | {
        kind: "mcp";
        server: {
          name: string;
          transport: "stdio";
          command: string;
          args?: (string)[];
          env?: { [name: string]: string };
        } | {
          name: string;
          transport: "http";
          url: string;
          credential?: string;
        };
        tool: string;
      } | {
        kind: "agent";
        agent_id: string;
        token_budget?: number;
      } | {
        kind: "recorded";
        recording: string;
      };
      timeout_ms?: number;
      ends_run?: boolean;
      agents_allowed?: boolean;
    };
    answer: Tool;
  };
  /** Delete a tool and its links to agents. */
  "DELETE /v1/tools/{name}": {
    path: { name: string };
    query: {};
    body?: undefined;
    answer: Change;
  };
  /** Read the platform prompt. */
  "GET /v1/platform-prompt": {
    path: {};
    query: { at_least?: string };
    body?: undefined;
    answer: PlatformPrompt;
  };
  /** Set the platform prompt; empty: none. */
  "PUT /v1/platform-prompt": {
    path: {};
    query: {};
    body: {
      prompt: string;
    };
    answer: PlatformPrompt;
  };
  /** Read who the credential stands for. */
  "GET /v1/me": {
    path: {};
    query: {};
    body?: undefined;
    answer: Me;
  };
  /** Read the organization. */
  "GET /v1/org": {
    path: {};
    query: { at_least?: string };
    body?: undefined;
    answer: Organization;
  };
  /** Change name, time zone or retention of the organization. */
  "PATCH /v1/org": {
    path: {};
    query: {};
    body?: {
      name?: string;
      time_zone?: string;
      retention_days?: number | null;
    };
    answer: Organization;
  };
  /** List users by e-mail address. */
  "GET /v1/users": {
    path: {};
    query: { limit?: number; cursor?: string; at_least?: string; active?: boolean };
    body?: undefined;
    answer: UserPage;
  };
  /** Add a user. */
  "POST /v1/users": {
    path: {};
    query: {};
    body: {
      user_id?: string;
      email: string;
      name: string;
      time_zone?: string | null;
      roles?: ("member" | "reviewer" | "admin" | "operator" | "service")[];
    };
    answer: User;
  };
  /** Read a user. */
  "GET /v1/users/{user_id}": {
    path: { user_id: string };
    query: { at_least?: string };
    body?: undefined;
    answer: User;
  };
  /** Change a user. */
  "PATCH /v1/users/{user_id}": {
    path: { user_id: string };
    query: {};
    body?: {
      email?: string;
      name?: string;
      time_zone?: string | null;
      roles?: ("member" | "reviewer" | "admin" | "operator" | "service")[];
    };
    answer: User;
  };
  /** Delete a user and their agents, never their runs. */
  "DELETE /v1/users/{user_id}": {
    path: { user_id: string };
    query: {};
    body?: undefined;
    answer: Change;
  };
  /** Deactivate a user; their agents are switched off. */
  "POST /v1/users/{user_id}/deactivate": {
    path: { user_id: string };
    query: {};
    body?: undefined;
    answer: User;
  };
  /** Reactivate a user; their agents stay off until they switch them on. */
  "POST /v1/users/{user_id}/reactivate": {
    path: { user_id: string };
    query: {};
    body?: undefined;
    answer: User;
  };
  /** List API keys, newest first. */
  "GET /v1/keys": {
    path: {};
    query: { limit?: number; cursor?: string; at_least?: string; user_id?: string };
    body?: undefined;
    answer: KeyPage;
  };
  /** Create an API key. */
  "POST /v1/keys": {
    path: {};
    query: {};
    body: {
      label: string;
      roles: ("member" | "reviewer" | "admin" | "operator" | "service")[];
      user_id?: string | null;
      expires_at?: string | null;
    };
    answer: CreatedKey;
  };
  /** Revoke an API key. */
  "DELETE /v1/keys/{key_id}": {
    path: { key_id: string };
    query: {};
    body?: undefined;
    answer: Change;
  };
  /** Upload a document. */
  "POST /v1/documents": {
    path: {};
    query: {};
    body: {
      document_id?: string;
      title: string;
      source?: string;
      language?: "simple" | "arabic" | "armenian" | "basque" | "catalan" | "danish" | "dutch" | "english" | "finnish" | "french" | "german" | "greek" | "hindi" | "hungarian" | "indonesian" | "irish" | "italian" | "lithuanian" | "nepali" | "norwegian" | "portuguese" | "romanian" | "russian" | "serbian" | "spanish" | "swedish" | "tamil" | "turkish" | "yiddish";
      content: string;
      access?: {
        everyone?: boolean;
        users?: (string)[];
        groups?: (string)[];
      };
    };
    answer: Document;
  };
  /** List documents by title. */
  "GET /v1/documents": {
    path: {};
    query: { limit?: number; cursor?: string; at_least?: string; source?: string; search?: string };
    body?: undefined;
    answer: DocumentPage;
  };
  /** Read a document with its text. */
  "GET /v1/documents/{document_id}": {
    path: { document_id: string };
    query: { at_least?: string };
    body?: undefined;
    answer: Document;
  };
  /** Change a document. */
  "PATCH /v1/documents/{document_id}": {
    path: { document_id: string };
    query: {};
    body?: {
      title?: string;
      source?: string;
      language?: "simple" | "arabic" | "armenian" | "basque" | "catalan" | "danish" | "dutch" | "english" | "finnish" | "french" | "german" | "greek" | "hindi" | "hungarian" | "indonesian" | "irish" | "italian" | "lithuanian" | "nepali" | "norwegian" | "portuguese" | "romanian" | "russian" | "serbian" | "spanish" | "swedish" | "tamil" | "turkish" | "yiddish";
      content?: string;
    };
    answer: Document;
  };
  /** Delete a document. */
  "DELETE /v1/documents/{document_id}": {
    path: { document_id: string };
    query: {};
    body?: undefined;
    answer: Change;
  };
  /** Say who may read a document. */
  "PUT /v1/documents/{document_id}/access": {
    path: { document_id: string };
    query: {};
    body?: {
      everyone?: boolean;
      users?: (string)[];
      groups?: (string)[];
    };
    answer: Document;
  };
  /** Search the documents that you may read, as your agents do. */
  "GET /v1/knowledge/search": {
    path: {};
    query: { query?: string; limit?: number };
    body?: undefined;
    answer: PassageList;
  };
  /** Knowledge as a server of the Model Context Protocol. */
  "POST /v1/knowledge/mcp": {
    path: {};
    query: {};
    body: {
      jsonrpc: "2.0";
      id?: string | number | null;
      method?: string;
      params?: { [name: string]: unknown };
    };
    answer: McpAnswer | undefined;
  };
  /** Create a group of readers. */
  "POST /v1/groups": {
    path: {};
    query: {};
    body: {
      group_id: string;
      name: string;
    };
    answer: Group;
  };
  /** List groups of readers. */
  "GET /v1/groups": {
    path: {};
    query: { limit?: number; cursor?: string; at_least?: string };
    body?: undefined;
    answer: GroupPage;
  };
  /** Read a group. */
  "GET /v1/groups/{group_id}": {
    path: { group_id: string };
    query: { at_least?: string };
    body?: undefined;
    answer: Group;
  };
  /** Rename a group. */
  "PATCH /v1/groups/{group_id}": {
    path: { group_id: string };
    query: {};
    body: {
      name: string;
    };
    answer: Group;
  };
  /** Delete a group; what it was allowed to read, its members read no longer. */
  "DELETE /v1/groups/{group_id}": {
    path: { group_id: string };
    query: { at_least?: string };
    body?: undefined;
    answer: Change;
  };
  /** Take a person into a group. */
  "PUT /v1/groups/{group_id}/members/{user_id}": {
    path: { group_id: string; user_id: string };
    query: {};
    body?: undefined;
    answer: Group;
  };
  /** Take a person out of a group. */
  "DELETE /v1/groups/{group_id}/members/{user_id}": {
    path: { group_id: string; user_id: string };
    query: {};
    body?: undefined;
    answer: Group;
  };
  /** Read this description. */
  "GET /v1/openapi.json": {
    path: {};
    query: {};
    body?: undefined;
    answer: { [name: string]: unknown };
  };
  /** Read what a problem means and what to do. */
  "GET /v1/problems/{code}": {
    path: { code: string };
    query: {};
    body?: undefined;
    answer: ProblemPage;
  };
}

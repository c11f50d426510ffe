import { enableTenantPolicies } from '@runyard/persistence';
import type { Migration } from '@runyard/persistence';

const SERVICE = 'tasks';
const STATUS = `('pending', 'running', 'completed', 'failed', 'cancelled')`;
const PHASE = `('plan', 'act', 'verify', 'report')`;
const READ_ONLY = { tenantMay: 'SELECT' };

const TASKS = `
  CREATE TABLE agent_tasks (
    org_id uuid NOT NULL,
    task_id text NOT NULL,
    user_id uuid,
    created_by text NOT NULL,
    title text NOT NULL,
    description text NOT NULL,
    acceptance text NOT NULL,
    status text NOT NULL CHECK (status IN ${STATUS}),
    agent_id text NOT NULL,
    model_id text,
    max_steps integer NOT NULL DEFAULT 25 CHECK (max_steps BETWEEN 1 AND 25),
    steps_used integer NOT NULL DEFAULT 0 CHECK (steps_used >= 0),
    phase text CHECK (phase IN ${PHASE}),
    current_step integer CHECK (current_step > 0),
    round integer NOT NULL DEFAULT 1 CHECK (round > 0),
    review_plan boolean NOT NULL DEFAULT false,
    blocked_by jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(blocked_by) = 'array'),
    report text,
    report_digest text,
    latest_run_id text,
    board_column text NOT NULL,
    board_rank text COLLATE "C",
    attention text CHECK (attention IN ('needs_input', 'plan_review', 'blocked')),
    attention_text text,
    reason text,
    reason_text text,
    stopping boolean NOT NULL DEFAULT false,
    active_number integer,
    requested_at timestamptz,
    retry_at timestamptz,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    started_at timestamptz,
    ended_at timestamptz,
    position text NOT NULL,
    PRIMARY KEY (org_id, task_id),
    CHECK ((ended_at IS NOT NULL) = (status IN ('completed', 'failed', 'cancelled'))),
    CHECK (status <> 'completed' OR report IS NOT NULL),
    CHECK (status <> 'failed' OR reason IS NOT NULL)
  );
  CREATE INDEX agent_tasks_board ON agent_tasks (org_id, board_column, board_rank, task_id);
  CREATE INDEX agent_tasks_newest ON agent_tasks (org_id, created_at DESC, task_id DESC);
  CREATE INDEX agent_tasks_at_work ON agent_tasks (requested_at) WHERE status = 'running';
  COMMENT ON TABLE agent_tasks IS 'Tasks on the board. Projection of TASKS';
  COMMENT ON COLUMN agent_tasks.max_steps IS 'Loop steps of all its runs together';
  COMMENT ON COLUMN agent_tasks.current_step IS 'With phase and round the progress cursor';
  COMMENT ON COLUMN agent_tasks.model_id IS 'Row of the allowed list; NULL: the agent''s';
  COMMENT ON COLUMN agent_tasks.latest_run_id IS 'NULL where the run was deleted';
  COMMENT ON COLUMN agent_tasks.report_digest IS 'Blob that holds the report whole, where it is long; report is then its beginning';
  COMMENT ON COLUMN agent_tasks.active_number IS 'Number of the request whose run has not ended';
  COMMENT ON COLUMN agent_tasks.retry_at IS 'When a deferred phase is requested again';
  ${enableTenantPolicies(SERVICE, 'agent_tasks', READ_ONLY)}`;

const PARTS = `
  CREATE TABLE agent_task_steps (
    org_id uuid NOT NULL,
    task_id text NOT NULL,
    seq integer NOT NULL CHECK (seq > 0),
    title text NOT NULL,
    detail text NOT NULL,
    status text NOT NULL CHECK (status IN ${STATUS}),
    result text,
    run_id text,
    PRIMARY KEY (org_id, task_id, seq),
    FOREIGN KEY (org_id, task_id) REFERENCES agent_tasks ON DELETE CASCADE
  );
  COMMENT ON TABLE agent_task_steps IS 'The plan of a task and what came of it. Projection of TASKS';
  COMMENT ON COLUMN agent_task_steps.run_id IS 'Its last run; NULL where that was deleted';
  ${enableTenantPolicies(SERVICE, 'agent_task_steps', READ_ONLY)}

  CREATE TABLE task_locks (
    org_id uuid NOT NULL,
    task_id text NOT NULL,
    fence bigint NOT NULL CHECK (fence > 0),
    lock_id text NOT NULL,
    holder text NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (org_id, task_id),
    FOREIGN KEY (org_id, task_id) REFERENCES agent_tasks ON DELETE CASCADE
  );
  COMMENT ON TABLE task_locks IS 'The last lock of a task that was not released; the log arbitrates. Projection of TASKS';
  COMMENT ON COLUMN task_locks.expires_at IS 'From then on nobody holds it, whether or not the row is there';
  ${enableTenantPolicies(SERVICE, 'task_locks', READ_ONLY)}

  CREATE TABLE task_runs (
    org_id uuid NOT NULL,
    task_id text NOT NULL,
    number integer NOT NULL CHECK (number > 0),
    run_id text,
    phase text NOT NULL CHECK (phase IN ${PHASE}),
    step integer,
    round integer NOT NULL,
    state text NOT NULL CHECK (state IN ('requested', 'succeeded', 'failed', 'cancelled', 'skipped', 'refused')),
    reason text,
    steps integer NOT NULL DEFAULT 0,
    input_tokens bigint NOT NULL DEFAULT 0,
    output_tokens bigint NOT NULL DEFAULT 0,
    cached_tokens bigint NOT NULL DEFAULT 0,
    total_tokens bigint NOT NULL DEFAULT 0,
    requested_at timestamptz NOT NULL,
    ended_at timestamptz,
    PRIMARY KEY (org_id, task_id, number),
    FOREIGN KEY (org_id, task_id) REFERENCES agent_tasks ON DELETE CASCADE
  );
  CREATE INDEX task_runs_run ON task_runs (run_id) WHERE run_id IS NOT NULL;
  COMMENT ON TABLE task_runs IS 'Runs that a task asked for, and what they spent. Projection of TASKS';
  COMMENT ON COLUMN task_runs.run_id IS 'NULL where the run was deleted; what it spent stays counted';
  ${enableTenantPolicies(SERVICE, 'task_runs', READ_ONLY)}`;

const FEED = `
  CREATE TABLE task_activity (
    org_id uuid NOT NULL,
    sequence bigint NOT NULL,
    index integer NOT NULL,
    at timestamptz NOT NULL,
    type text NOT NULL,
    task_id text NOT NULL,
    user_id uuid,
    actor text NOT NULL,
    summary text NOT NULL,
    PRIMARY KEY (org_id, sequence, index)
  );
  CREATE INDEX task_activity_of_task ON task_activity (org_id, task_id, sequence DESC, index DESC);
  COMMENT ON TABLE task_activity IS 'What happened on the board, by whom. Projection of TASKS; outlives its tasks, without their content';
  ${enableTenantPolicies(SERVICE, 'task_activity', READ_ONLY)}`;

const OPERATIONS = `
  CREATE TABLE task_run_links (
    run_id text PRIMARY KEY,
    org_id uuid NOT NULL,
    task_id text NOT NULL
  );
  COMMENT ON TABLE task_run_links IS 'Runs that were queued for tasks. Operational: written by the reaction to RUNS, so that an end finds its task';
  ${enableTenantPolicies(SERVICE, 'task_run_links', READ_ONLY)}

  CREATE TABLE task_waits (
    org_id uuid NOT NULL,
    task_id text NOT NULL,
    waits_for text NOT NULL,
    PRIMARY KEY (org_id, task_id, waits_for)
  );
  CREATE INDEX task_waits_for ON task_waits (org_id, waits_for);
  COMMENT ON TABLE task_waits IS 'Tasks that start when others are completed. Operational: written by the reaction to TASKS';
  ${enableTenantPolicies(SERVICE, 'task_waits', READ_ONLY)}`;

/** The rows of the board (domain, section 8) and two tables that reactions remember by. */
export const CREATE_TASKS: Migration = {
  name: 'CreateTasks',
  timestamp: 1_764_460_800_601,
  up: `${TASKS}${PARTS}${FEED}${OPERATIONS}`,
};

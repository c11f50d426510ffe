import { enableTenantPolicies } from '@runyard/persistence';
import type { Migration } from '@runyard/persistence';

/** The same thing done to many runs: how far it is, and what became of each. */
export const bulkActions: Migration = {
  name: 'AddBulkActions',
  timestamp: 1_764_460_011_000,
  up: `
CREATE TABLE bulk_actions (
  bulk_action_id text PRIMARY KEY,
  org_id uuid NOT NULL,
  action text NOT NULL CHECK (action IN ('cancel', 'pause', 'resume', 'retry')),
  filter jsonb NOT NULL,
  state text NOT NULL CHECK (state IN ('running', 'aborting', 'aborted', 'completed')),
  requested_by text NOT NULL,
  user_id text,
  runs integer NOT NULL,
  chosen boolean NOT NULL,
  handled integer NOT NULL,
  done integer NOT NULL,
  requested integer NOT NULL,
  refused integer NOT NULL,
  created_at timestamptz NOT NULL,
  abort_requested_at timestamptz,
  abort_requested_by text,
  ended_at timestamptz,
  sequence bigint NOT NULL,
  position text NOT NULL,
  CHECK (handled = done + requested + refused AND handled <= runs),
  CHECK ((ended_at IS NULL) = (state IN ('running', 'aborting')))
);
CREATE INDEX bulk_actions_newest ON bulk_actions (org_id, created_at DESC, bulk_action_id DESC);
CREATE INDEX bulk_actions_open ON bulk_actions (created_at) WHERE state IN ('running', 'aborting');
COMMENT ON TABLE bulk_actions IS 'Actions on every run that a filter finds. Projection bulk-actions of RUNS';
COMMENT ON COLUMN bulk_actions.runs IS 'Runs chosen so far; all of them where chosen is true';
COMMENT ON COLUMN bulk_actions.sequence IS 'Stream sequence that the row reflects: a commit that is read twice counts once';

CREATE TABLE bulk_action_runs (
  bulk_action_id text NOT NULL,
  place integer NOT NULL,
  org_id uuid NOT NULL,
  run_id text NOT NULL,
  outcome text CHECK (outcome IN ('done', 'requested', 'refused')),
  state text,
  code text,
  detail text,
  new_run_id text,
  PRIMARY KEY (bulk_action_id, place),
  UNIQUE (bulk_action_id, run_id)
);
COMMENT ON TABLE bulk_action_runs IS 'Runs of a bulk action in their order, with what became of each. Without a foreign key to runs: it outlives their deletion. Projection bulk-actions of RUNS';
COMMENT ON COLUMN bulk_action_runs.outcome IS 'NULL: not told anything, or not yet';
${enableTenantPolicies('run-executor', 'bulk_actions', { tenantMay: 'SELECT' })}
${enableTenantPolicies('run-executor', 'bulk_action_runs', { tenantMay: 'SELECT' })}
`,
};

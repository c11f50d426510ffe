import { enableTenantPolicies } from '@runyard/persistence';
import type { Migration } from '@runyard/persistence';

const SERVICE = 'approvals';

/** Approvals and rules as projections of APPROVALS, and what runs have asked, which is operational. */
export const CREATE_APPROVALS: Migration = {
  name: 'CreateApprovals',
  timestamp: 1_764_460_800_201,
  up: `
    CREATE TABLE approvals (
      approval_id text PRIMARY KEY,
      org_id uuid NOT NULL,
      kind text NOT NULL CHECK (kind IN ('call', 'ambiguous')),
      state text NOT NULL CHECK (state IN ('pending', 'approved', 'denied', 'answered', 'expired', 'withdrawn')),
      run_id text NOT NULL,
      agent_id text NOT NULL,
      agent_version int NOT NULL,
      owner_id uuid NOT NULL,
      step int NOT NULL,
      call_id text NOT NULL,
      tool text NOT NULL,
      arguments jsonb NOT NULL,
      arguments_digest text NOT NULL,
      rule_id text,
      group_key text,
      policy_version int NOT NULL,
      opened_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL,
      decided_at timestamptz,
      decided_by text,
      verdict text CHECK (verdict IN ('approve', 'deny', 'done', 'repeat', 'fail')),
      edited_arguments jsonb,
      message jsonb,
      whole_group boolean NOT NULL DEFAULT false,
      made_rule_id text,
      group_of text,
      withdrawn_because text,
      position text NOT NULL,
      CHECK ((state = 'pending') = (decided_at IS NULL)),
      CHECK ((state IN ('approved', 'denied', 'answered')) = (verdict IS NOT NULL))
    );
    CREATE INDEX approvals_pending ON approvals (org_id, opened_at, approval_id) WHERE state = 'pending';
    CREATE INDEX approvals_due ON approvals (expires_at) WHERE state = 'pending';
    CREATE INDEX approvals_history ON approvals (org_id, opened_at DESC, approval_id);
    CREATE INDEX approvals_of_run ON approvals (run_id);
    COMMENT ON TABLE approvals IS 'Questions of runs to reviewers and their answers. Projection of APPROVALS';
    COMMENT ON COLUMN approvals.arguments IS 'What the tool would be sent: the provider''s text, or its preview and digest';
    COMMENT ON COLUMN approvals.rule_id IS 'The rule that asked; NULL: the run''s mode did';
    COMMENT ON COLUMN approvals.decided_by IS 'Actor: a person, or the system for an expiry, which is no denial';
    COMMENT ON COLUMN approvals.group_of IS 'The approval whose decision for the whole group answered this one';
    ${enableTenantPolicies(SERVICE, 'approvals', { tenantMay: 'SELECT' })}

    CREATE TABLE permission_rules (
      rule_id text PRIMARY KEY,
      org_id uuid NOT NULL,
      scope text NOT NULL CHECK (scope IN ('org', 'owner', 'agent')),
      owner_id uuid,
      agent_id text,
      tool text NOT NULL,
      conditions jsonb NOT NULL,
      decision text NOT NULL CHECK (decision IN ('allow', 'deny', 'ask')),
      group_key text,
      expires_at timestamptz,
      note text,
      approval_id text,
      author text NOT NULL,
      created_at timestamptz NOT NULL,
      removed_at timestamptz,
      removed_by text,
      position text NOT NULL,
      CHECK ((scope = 'owner') = (owner_id IS NOT NULL)),
      CHECK ((scope = 'agent') = (agent_id IS NOT NULL))
    );
    CREATE INDEX permission_rules_standing ON permission_rules (org_id, created_at DESC, rule_id) WHERE removed_at IS NULL;
    COMMENT ON TABLE permission_rules IS 'Rules that decide tool calls; removed ones stay readable. Projection of APPROVALS';
    COMMENT ON COLUMN permission_rules.approval_id IS 'The approval that the rule was made of';
    ${enableTenantPolicies(SERVICE, 'permission_rules', { tenantMay: 'SELECT' })}

    CREATE TABLE asked_calls (
      approval_id text PRIMARY KEY,
      org_id uuid NOT NULL,
      run_id text NOT NULL,
      group_key text
    );
    CREATE INDEX asked_calls_of_run ON asked_calls (run_id);
    COMMENT ON TABLE asked_calls IS 'What unfinished runs have asked. Operational: kept by the reaction on RUNS with its checkpoint';
    ${enableTenantPolicies(SERVICE, 'asked_calls', { tenantMay: 'SELECT' })}`,
};

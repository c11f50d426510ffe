import { enableTenantPolicies } from '@runyard/persistence';
import type { Migration } from '@runyard/persistence';

const SERVICE = 'scheduler';

/** What slots depend on, as projections, and the clocks of agents, which are operational. */
export const CREATE_SLOTS: Migration = {
  name: 'CreateSlots',
  timestamp: 1_764_460_800_101,
  up: `
    CREATE TABLE scheduled_agents (
      org_id uuid NOT NULL,
      agent_id text NOT NULL,
      owner_id uuid NOT NULL,
      schedule jsonb,
      scheduled_at timestamptz NOT NULL,
      overlap text NOT NULL CHECK (overlap IN ('skip', 'queue', 'replace')),
      concurrency text NOT NULL,
      enabled boolean NOT NULL,
      locked boolean NOT NULL,
      has_model boolean NOT NULL,
      opened_at timestamptz NOT NULL,
      position text NOT NULL,
      PRIMARY KEY (org_id, agent_id)
    );
    COMMENT ON TABLE scheduled_agents IS 'What an agent''s slots depend on. Projection of AGENTS';
    COMMENT ON COLUMN scheduled_agents.schedule IS 'NULL: by hand only';
    COMMENT ON COLUMN scheduled_agents.scheduled_at IS 'When the schedule was last changed; an interval counts from here';
    COMMENT ON COLUMN scheduled_agents.opened_at IS 'When the last of switch, lock and model opened';
    ${enableTenantPolicies(SERVICE, 'scheduled_agents')}

    CREATE TABLE schedule_owners (
      org_id uuid NOT NULL,
      user_id uuid NOT NULL,
      time_zone text,
      zone_since timestamptz NOT NULL,
      active boolean NOT NULL,
      active_since timestamptz NOT NULL,
      position text NOT NULL,
      PRIMARY KEY (org_id, user_id)
    );
    COMMENT ON TABLE schedule_owners IS 'Zones and presence of owners. Projection of PEOPLE';
    ${enableTenantPolicies(SERVICE, 'schedule_owners')}

    CREATE TABLE schedule_orgs (
      org_id uuid PRIMARY KEY,
      time_zone text NOT NULL,
      zone_since timestamptz NOT NULL,
      position text NOT NULL
    );
    COMMENT ON TABLE schedule_orgs IS 'Zones of organizations: for owners without one. Projection of PEOPLE';
    ${enableTenantPolicies(SERVICE, 'schedule_orgs')}

    CREATE TABLE unfinished_runs (
      run_id text PRIMARY KEY,
      org_id uuid NOT NULL,
      agent_id text NOT NULL
    );
    CREATE INDEX unfinished_runs_of_agent ON unfinished_runs (org_id, agent_id);
    COMMENT ON TABLE unfinished_runs IS 'Runs that hold their agent''s one place. Projection of RUNS';
    ${enableTenantPolicies(SERVICE, 'unfinished_runs')}

    CREATE TABLE agent_clocks (
      org_id uuid NOT NULL,
      agent_id text NOT NULL,
      next_run_at timestamptz,
      decided_at timestamptz,
      requested_at timestamptz,
      deferred_at timestamptz,
      cancel_asked_at timestamptz,
      agent_position text,
      owner_position text,
      org_position text,
      PRIMARY KEY (org_id, agent_id)
    );
    CREATE INDEX agent_clocks_due ON agent_clocks (next_run_at) WHERE next_run_at IS NOT NULL;
    CREATE INDEX agent_clocks_deferred ON agent_clocks (org_id, agent_id) WHERE deferred_at IS NOT NULL;
    COMMENT ON TABLE agent_clocks IS 'When each agent is due. Operational: the log decides, this only says when to ask it';
    COMMENT ON COLUMN agent_clocks.decided_at IS 'Slots up to here are decided in the log';
    COMMENT ON COLUMN agent_clocks.requested_at IS 'Last slot whose request was sent; the log may be one ahead after a crash';
    COMMENT ON COLUMN agent_clocks.deferred_at IS 'Slot that waits for a run to end';
    COMMENT ON COLUMN agent_clocks.agent_position IS 'Position of the agent''s row that the plan was made from; likewise of its owner and org';
    ${enableTenantPolicies(SERVICE, 'agent_clocks', { tenantMay: 'SELECT' })}`,
};

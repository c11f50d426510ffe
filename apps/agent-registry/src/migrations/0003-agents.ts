import { enableTenantPolicies } from '@runyard/persistence';
import type { Migration } from '@runyard/persistence';

const SERVICE = 'agent-registry';

const BEHAVIOUR = `
      prompt text NOT NULL CHECK (prompt <> ''),
      model_id text,
      bounds jsonb NOT NULL CHECK (jsonb_typeof(bounds) = 'object'),
      approval_policy text NOT NULL CHECK (approval_policy IN ('park', 'end')),
      mode text NOT NULL CHECK (mode IN ('plan', 'ask', 'auto'))`;

/** Agents, their versions and their links to tools (domain, section 2). */
export const CREATE_AGENTS: Migration = {
  name: 'CreateAgents',
  timestamp: 1_764_460_800_003,
  up: `
    CREATE TABLE agents (
      org_id uuid NOT NULL,
      agent_id text NOT NULL,
      agent_version int NOT NULL CHECK (agent_version > 0),
      revision int NOT NULL CHECK (revision > 0),
      owner_id uuid NOT NULL,
      name text NOT NULL,
      description text NOT NULL,
      ${BEHAVIOUR},
      concurrency text NOT NULL CHECK (concurrency IN ('agent', 'conversation', 'unlimited')),
      overlap text NOT NULL CHECK (overlap IN ('skip', 'queue', 'replace')),
      schedule jsonb,
      meta jsonb NOT NULL CHECK (jsonb_typeof(meta) = 'object'),
      enabled boolean NOT NULL,
      enabled_by text NOT NULL,
      enabled_reason text,
      admin_paused boolean NOT NULL,
      admin_paused_by text,
      admin_paused_reason text,
      next_run_at timestamptz,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      position text NOT NULL,
      PRIMARY KEY (org_id, agent_id),
      FOREIGN KEY (org_id, owner_id) REFERENCES users ON DELETE CASCADE
    );
    COMMENT ON TABLE agents IS 'Agents as they stand. Projection of AGENTS';
    COMMENT ON COLUMN agents.agent_id IS 'Slug that its author chose, unique in the org';
    COMMENT ON COLUMN agents.agent_version IS 'Newest version; one more at every change of behaviour';
    COMMENT ON COLUMN agents.revision IS 'Events since it was created; with the version it is the ETag';
    COMMENT ON COLUMN agents.owner_id IS 'Whose agent it is, and the identity under which it reads';
    COMMENT ON COLUMN agents.model_id IS 'Row of the allowed models, or NULL: no model, the agent does not start';
    COMMENT ON COLUMN agents.enabled IS 'The owner''s switch';
    COMMENT ON COLUMN agents.admin_paused IS 'The admin''s lock: another axis, which the owner cannot release';
    COMMENT ON COLUMN agents.next_run_at IS 'Next slot; NULL when by hand only, switched off, locked or without model';
    COMMENT ON COLUMN agents.updated_at IS 'Time of the last edit; switches, locks and slots do not move it';
    CREATE INDEX agents_by_name ON agents (org_id, name, agent_id);
    CREATE INDEX agents_by_owner ON agents (org_id, owner_id);
    CREATE INDEX agents_by_model ON agents (org_id, model_id) WHERE model_id IS NOT NULL;
    CREATE INDEX agents_by_next_run ON agents (next_run_at) WHERE next_run_at IS NOT NULL;
    ${enableTenantPolicies(SERVICE, 'agents')}

    CREATE TABLE agent_tools (
      org_id uuid NOT NULL,
      agent_id text NOT NULL,
      tool text NOT NULL,
      place int NOT NULL,
      created_at timestamptz NOT NULL,
      PRIMARY KEY (org_id, agent_id, tool),
      FOREIGN KEY (org_id, agent_id) REFERENCES agents ON DELETE CASCADE
    );
    COMMENT ON TABLE agent_tools IS 'Optional tools that an agent is linked to, beside the core set. Projection of AGENTS';
    COMMENT ON COLUMN agent_tools.place IS 'Place in the author''s order, from 0';
    COMMENT ON COLUMN agent_tools.created_at IS 'When the link was made; never updated';
    CREATE INDEX agent_tools_by_tool ON agent_tools (org_id, tool);
    ${enableTenantPolicies(SERVICE, 'agent_tools')}

    CREATE TABLE agent_versions (
      org_id uuid NOT NULL,
      agent_id text NOT NULL,
      agent_version int NOT NULL CHECK (agent_version > 0),
      owner_id uuid NOT NULL,
      ${BEHAVIOUR},
      tools text[] NOT NULL,
      created_at timestamptz NOT NULL,
      created_by text NOT NULL,
      PRIMARY KEY (org_id, agent_id, agent_version)
    );
    COMMENT ON TABLE agent_versions IS 'What each version''s author chose. Immutable; stays when the agent is deleted and its history kept. Projection of AGENTS';
    ${enableTenantPolicies(SERVICE, 'agent_versions', { tenantMay: 'SELECT' })}`,
};

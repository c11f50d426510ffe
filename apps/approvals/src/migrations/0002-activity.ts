import { enableTenantPolicies } from '@runyard/persistence';
import type { Migration } from '@runyard/persistence';

const SERVICE = 'approvals';

/** One table a stream: each is a projection that can be thrown away and made anew by itself. */
const feed = (table: string, stream: string): string => `
    CREATE TABLE ${table} (
      sequence bigint NOT NULL,
      index int NOT NULL,
      org_id uuid NOT NULL,
      at timestamptz NOT NULL,
      topic text NOT NULL CHECK (topic IN ('starts', 'ends', 'decisions', 'controls', 'locks', 'board', 'agents')),
      kind text NOT NULL,
      actor text NOT NULL,
      subject text NOT NULL,
      owner_id uuid,
      requested_by text,
      agent_id text,
      run_id text,
      task_id text,
      summary text NOT NULL,
      PRIMARY KEY (sequence, index)
    );
    CREATE INDEX ${table}_newest ON ${table} (org_id, at DESC, sequence DESC, index DESC);
    CREATE INDEX ${table}_subject ON ${table} (org_id, subject, sequence DESC, index DESC);
    CREATE INDEX ${table}_agent ON ${table} (org_id, agent_id, at DESC) WHERE agent_id IS NOT NULL;
    CREATE INDEX ${table}_run ON ${table} (run_id) WHERE run_id IS NOT NULL;
    CREATE INDEX ${table}_task ON ${table} (org_id, task_id, at DESC) WHERE task_id IS NOT NULL;
    COMMENT ON TABLE ${table} IS 'Activity feed: what happened, one line an entry, without content. Projection of ${stream}';
    COMMENT ON COLUMN ${table}.owner_id IS 'Whose thing it is: this person sees the entry; NULL: overseers alone';
    COMMENT ON COLUMN ${table}.requested_by IS 'Actor that asked for the run, who sees the entry as well';
    ${enableTenantPolicies(SERVICE, table, { tenantMay: 'SELECT' })}`;

/** The activity feed. */
export const CREATE_ACTIVITY: Migration = {
  name: 'CreateActivity',
  timestamp: 1_764_460_800_202,
  up: [
    feed('activity_runs', 'RUNS'),
    feed('activity_approvals', 'APPROVALS'),
    feed('activity_tasks', 'TASKS'),
    feed('activity_agents', 'AGENTS'),
  ].join('\n'),
};

import { enableTenantPolicies } from '@runyard/persistence';
import type { Migration } from '@runyard/persistence';

const SERVICE = 'budget-ledger';

/** Weeks, what they hold and what was spent in them, as projections of BUDGETS. */
export const CREATE_LEDGER: Migration = {
  name: 'CreateLedger',
  timestamp: 1_764_460_800_201,
  up: `
    CREATE TABLE spend_caps (
      org_id uuid NOT NULL,
      scope text NOT NULL,
      tokens bigint CHECK (tokens >= 0),
      changed_at timestamptz NOT NULL,
      changed_by text NOT NULL,
      position text NOT NULL,
      PRIMARY KEY (org_id, scope)
    );
    COMMENT ON TABLE spend_caps IS 'Weekly token caps: scope "default", or the id of an owner with a cap of their own. Projection of BUDGETS';
    COMMENT ON COLUMN spend_caps.tokens IS 'NULL: no cap';
    ${enableTenantPolicies(SERVICE, 'spend_caps')}

    CREATE TABLE budget_weeks (
      org_id uuid NOT NULL,
      owner_id uuid NOT NULL,
      week date NOT NULL,
      starts_at timestamptz NOT NULL,
      ends_at timestamptz NOT NULL,
      time_zone text NOT NULL,
      previous date,
      next date,
      state text NOT NULL CHECK (state IN ('open', 'closed')),
      settled bigint NOT NULL CHECK (settled >= 0),
      reserved bigint NOT NULL CHECK (reserved >= 0),
      overruns integer NOT NULL,
      reached_80_at timestamptz,
      reached_100_at timestamptz,
      position text NOT NULL,
      PRIMARY KEY (org_id, owner_id, week),
      CHECK (ends_at > starts_at)
    );
    CREATE INDEX budget_weeks_by_week ON budget_weeks (org_id, week, owner_id);
    COMMENT ON TABLE budget_weeks IS 'An owner''s weeks, named by the date of their Sunday; the boundaries are those that were fixed when the week began. Projection of BUDGETS';
    COMMENT ON COLUMN budget_weeks.settled IS 'Tokens of trees whose root ended in the week';
    COMMENT ON COLUMN budget_weeks.reserved IS 'Tokens held by unfinished runs';
    COMMENT ON COLUMN budget_weeks.overruns IS 'Runs that used more than they had been granted';
    ${enableTenantPolicies(SERVICE, 'budget_weeks')}

    CREATE TABLE reservations (
      org_id uuid NOT NULL,
      run_id text NOT NULL,
      owner_id uuid NOT NULL,
      week date NOT NULL,
      tokens bigint NOT NULL CHECK (tokens >= 0),
      cut boolean NOT NULL,
      reserved_at timestamptz NOT NULL,
      PRIMARY KEY (org_id, owner_id, week, run_id)
    );
    CREATE INDEX reservations_by_age ON reservations (reserved_at);
    COMMENT ON TABLE reservations IS 'What unfinished runs hold now. Projection of BUDGETS';
    COMMENT ON COLUMN reservations.cut IS 'The cap gave less than the run might have had';
    ${enableTenantPolicies(SERVICE, 'reservations')}

    CREATE TABLE settlements (
      org_id uuid NOT NULL,
      run_id text NOT NULL,
      owner_id uuid NOT NULL,
      week date NOT NULL,
      day date NOT NULL,
      agent_id text NOT NULL,
      tokens bigint NOT NULL CHECK (tokens >= 0),
      own_tokens bigint NOT NULL,
      child_tokens bigint NOT NULL,
      reserved bigint NOT NULL,
      ended_at timestamptz NOT NULL,
      position text NOT NULL,
      PRIMARY KEY (org_id, run_id)
    );
    CREATE INDEX settlements_of_week ON settlements (org_id, owner_id, week);
    COMMENT ON TABLE settlements IS 'One row a root run that has ended: what its tree spent. Outlives the run. Projection of BUDGETS';
    ${enableTenantPolicies(SERVICE, 'settlements')}

    CREATE TABLE spend_lines (
      org_id uuid NOT NULL,
      root_run_id text NOT NULL,
      line integer NOT NULL,
      run_id text NOT NULL,
      owner_id uuid NOT NULL,
      week date NOT NULL,
      day date NOT NULL,
      ended_at timestamptz NOT NULL,
      agent_id text NOT NULL,
      model_id text NOT NULL,
      model text NOT NULL,
      provider text NOT NULL,
      tier text NOT NULL,
      calls integer NOT NULL,
      input_tokens bigint NOT NULL,
      output_tokens bigint NOT NULL,
      cached_tokens bigint NOT NULL,
      estimated_tokens bigint NOT NULL,
      PRIMARY KEY (org_id, root_run_id, line)
    );
    CREATE INDEX spend_lines_by_day ON spend_lines (org_id, day);
    CREATE INDEX spend_lines_of_owner ON spend_lines (org_id, owner_id, day);
    COMMENT ON TABLE spend_lines IS 'What each run of a tree spent with each model, counted when the root ended. No money: it is derived at read time. Projection of BUDGETS';
    ${enableTenantPolicies(SERVICE, 'spend_lines')}

    CREATE TABLE model_prices (
      org_id uuid NOT NULL,
      model_id text NOT NULL,
      valid_from timestamptz NOT NULL,
      currency text NOT NULL,
      input numeric NOT NULL,
      output numeric NOT NULL,
      cached numeric NOT NULL,
      position text NOT NULL,
      PRIMARY KEY (org_id, model_id, valid_from)
    );
    COMMENT ON TABLE model_prices IS 'Prices per million tokens with the time from which they hold; they outlive the model''s row. Projection of AGENTS';
    ${enableTenantPolicies(SERVICE, 'model_prices')}

    CREATE TABLE tree_runs (
      run_id text PRIMARY KEY,
      org_id uuid NOT NULL,
      root_run_id text NOT NULL,
      owner_id uuid NOT NULL,
      agent_id text NOT NULL,
      lines jsonb
    );
    CREATE INDEX tree_runs_of_root ON tree_runs (root_run_id);
    COMMENT ON TABLE tree_runs IS 'Runs whose root has not been settled yet. Operational: kept by the reaction that settles, in step with its checkpoint';
    COMMENT ON COLUMN tree_runs.lines IS 'What a child has spent; NULL until it ends';
    ${enableTenantPolicies(SERVICE, 'tree_runs', { tenantMay: 'SELECT' })}`,
};

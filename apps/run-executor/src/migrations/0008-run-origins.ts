import type { Migration } from '@runyard/persistence';

/** Runs that begin with what another one has recorded, readable from both ends (domain, section 4). */
export const runOrigins: Migration = {
  name: 'AddRunOrigins',
  timestamp: 1_764_460_008_000,
  up: `
ALTER TABLE agent_runs
  ADD COLUMN source_run_id text,
  ADD COLUMN source_kind text CONSTRAINT agent_runs_known_source CHECK (source_kind IN ('fork', 'continuation', 'retry')),
  ADD COLUMN source_step integer CHECK (source_step >= 0),
  ADD CONSTRAINT agent_runs_whole_source CHECK ((source_run_id IS NULL) = (source_kind IS NULL));
CREATE INDEX agent_runs_of_source ON agent_runs (source_run_id) WHERE source_run_id IS NOT NULL;
COMMENT ON COLUMN agent_runs.source_run_id IS 'The run that it begins with: forked from, continued, or tried again. No foreign key: it stays when that run is deleted.';
COMMENT ON COLUMN agent_runs.source_kind IS 'What it makes of its source: a fork changes something, a continuation goes on, a retry begins again.';
COMMENT ON COLUMN agent_runs.source_step IS 'How many completed steps of the source were taken over.';
`,
};

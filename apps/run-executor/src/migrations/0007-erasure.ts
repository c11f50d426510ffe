import type { Migration } from '@runyard/persistence';

/** What is left of runs whose content was overwritten in log, archive and rows (P9.1). */
export const erasure: Migration = {
  name: 'AddErasure',
  timestamp: 1_764_460_006_000,
  up: `
ALTER TABLE deleted_runs ADD COLUMN erased_at timestamptz, ADD COLUMN previous_run_id text;
CREATE INDEX deleted_runs_unerased ON deleted_runs (org_id, deleted_at) WHERE erased_at IS NULL;
COMMENT ON COLUMN deleted_runs.erased_at IS 'When its content was erased from log and archive; null: it lies there until a sweep.';
COMMENT ON COLUMN deleted_runs.previous_run_id IS 'The turn before it in its conversation, where its log no longer says.';
`,
};

import type { Migration } from '@runyard/persistence';

/** A call of an agent tool is a run of its own; its step says which. */
export const childRuns: Migration = {
  name: 'NameChildRunsInSteps',
  timestamp: 1_764_460_009_000,
  up: `
ALTER TABLE agent_steps ADD COLUMN child_run_id text;
COMMENT ON COLUMN agent_steps.child_run_id IS 'The run that the call delegated to; without a foreign key, since it outlives neither its deletion nor that of the step.';
`,
};

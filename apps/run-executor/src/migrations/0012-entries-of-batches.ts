import type { Migration } from '@runyard/persistence';

/**
 * A row for what a batch of commits adds to a run's trajectory, instead of one for each entry: as text, because it is read
 * once, at the end (ADR 0025).
 */
export const entriesOfBatches: Migration = {
  name: 'CollectEntriesByBatch',
  timestamp: 1_764_460_012_000,
  up: `
ALTER TABLE run_entries ALTER COLUMN entry TYPE text
  USING json_build_array(json_build_object('place', place, 'entry', entry))::text;
ALTER TABLE run_entries RENAME COLUMN entry TO entries;
COMMENT ON COLUMN run_entries.place IS 'The lowest place in it.';
COMMENT ON COLUMN run_entries.entries IS 'JSON: [{place, entry}], what one batch of commits added; the statement that ends the run puts all in order.';
`,
};

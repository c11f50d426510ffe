import type { Migration } from '@runyard/persistence';

/**
 * What becomes of missed slots is the agent's choice; until now it was `latest` for all. When an agent runs next is the
 * scheduler's to say: the column here was never filled.
 */
export const CHOOSE_CATCH_UP: Migration = {
  name: 'ChooseCatchUp',
  timestamp: 1_764_460_800_004,
  up: `
    ALTER TABLE agents ADD COLUMN catch_up text NOT NULL DEFAULT 'latest' CHECK (catch_up IN ('latest', 'none'));
    COMMENT ON COLUMN agents.catch_up IS 'One run for the newest missed slot, or none';
    ALTER TABLE agents DROP COLUMN next_run_at;`,
};

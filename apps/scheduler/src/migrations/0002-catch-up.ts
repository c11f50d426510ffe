import type { Migration } from '@runyard/persistence';

/** What becomes of missed slots is the agent's choice; until now it was `latest` for all. */
export const CHOOSE_CATCH_UP: Migration = {
  name: 'ChooseCatchUp',
  timestamp: 1_764_460_800_102,
  up: `
    ALTER TABLE scheduled_agents ADD COLUMN catch_up text NOT NULL DEFAULT 'latest' CHECK (catch_up IN ('latest', 'none'));
    COMMENT ON COLUMN scheduled_agents.catch_up IS 'One run for the newest missed slot, or none';`,
};

/** What the rows of `run_entries` hold, an entry a row: how they are cut depends on how commits came. */
export const placedEntries = (table: string): string =>
  `SELECT run_id, org_id, (placed ->> 'place')::integer AS place, (placed -> 'entry')::jsonb AS entry
   FROM ${table}, json_array_elements(entries::json) placed`;

/** Tables of the projection `runs` by what a rebuild does with them (P8.7). */
export const RUN_TABLES = {
  schema: 'run_executor',
  /** Rebuilt and compared, row for row and column for column. */
  verified: [
    'agent_runs',
    'agent_steps',
    'run_entries',
    'run_progress',
    'conversations',
    'deleted_runs',
    'deleted_conversations',
  ],
  /** Written along the way and not compared: stubs, and operational facts that others change as well (P8.6). */
  work: ['organizations', 'users', 'run_keys', 'run_drivers', 'unknown_events'],
  /** Written by the projection of people. */
  lookup: ['erased_references'],
  /** What is compared instead of a table's rows. */
  forms: { run_entries: placedEntries },
} as const;

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
} as const;

import type { Projection } from '@runyard/persistence';
import { SCHEDULED_AGENTS } from './agents.projection';
import { SCHEDULE_PEOPLE } from './people.projection';
import { UNFINISHED_RUNS } from './runs.projection';

/** What `verify` needs to rebuild a projection of this service beside its live rows and compare them. */
export interface VerifiedProjection {
  projection: Projection;
  schema: string;
  tables: readonly string[];
}

export const SCHEDULER_PROJECTIONS: readonly VerifiedProjection[] = [
  { projection: SCHEDULED_AGENTS, schema: 'scheduler', tables: ['scheduled_agents'] },
  { projection: SCHEDULE_PEOPLE, schema: 'scheduler', tables: ['schedule_owners', 'schedule_orgs'] },
  { projection: UNFINISHED_RUNS, schema: 'scheduler', tables: ['unfinished_runs'] },
];

import type { Projection } from '@runyard/persistence';
import { BOARD_TABLES, TASKS_PROJECTION } from './board.projection';
import { TASK_PEOPLE } from './people.projection';

/** What `verify` needs to rebuild a projection of this service beside its live rows and compare them. */
export interface VerifiedProjection {
  projection: Projection;
  schema: string;
  tables: readonly string[];
}

export const TASKS_PROJECTIONS: readonly VerifiedProjection[] = [
  {
    projection: TASKS_PROJECTION,
    schema: 'tasks',
    tables: BOARD_TABLES,
  },
  { projection: TASK_PEOPLE, schema: 'tasks', tables: ['departed_owners'] },
];

import type { Projection, TableForms } from '@runyard/persistence';
import { bulkActionsProjection } from './bulk-actions.projection';
import type { UnknownEvent } from './commits';
import { runPeopleProjection } from './people.projection';
import { RUN_TABLES } from './run-tables';
import { runsProjection } from './runs.projection';

/** What `verify` and `replay` need to rebuild a projection of this service beside its live rows. */
export interface VerifiedProjection {
  projection: Projection;
  /** The same projection, telling of the event types that it skips. */
  telling?: (onUnknown: (event: UnknownEvent) => void) => Projection;
  schema: string;
  tables: readonly string[];
  /** Written along the way and not compared. */
  workTables?: readonly string[];
  /** Read here, written by another projection. */
  lookupTables?: readonly string[];
  /** As in RebuildOptions. */
  forms?: TableForms;
}

export const RUN_EXECUTOR_PROJECTIONS: readonly VerifiedProjection[] = [
  {
    projection: runsProjection(),
    telling: runsProjection,
    schema: RUN_TABLES.schema,
    tables: RUN_TABLES.verified,
    workTables: RUN_TABLES.work,
    lookupTables: RUN_TABLES.lookup,
    forms: RUN_TABLES.forms,
  },
  {
    projection: runPeopleProjection,
    schema: RUN_TABLES.schema,
    tables: ['erased_references', 'retention_settings'],
    workTables: ['organizations', 'users'],
  },
  {
    projection: bulkActionsProjection,
    schema: RUN_TABLES.schema,
    tables: ['bulk_actions', 'bulk_action_runs'],
  },
];

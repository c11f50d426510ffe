import type { Projection } from '@runyard/persistence';
import { ACTIVITY_PROJECTIONS } from './activity-tables';
import { APPROVALS } from './approvals.projection';
import { RULES } from './rules.projection';

/** What `verify` needs to rebuild a projection of this service beside its live rows and compare them. */
export interface VerifiedProjection {
  projection: Projection;
  schema: string;
  tables: readonly string[];
}

export const APPROVALS_PROJECTIONS: readonly VerifiedProjection[] = [
  { projection: APPROVALS, schema: 'approvals', tables: ['approvals'] },
  { projection: RULES, schema: 'approvals', tables: ['permission_rules'] },
  ...ACTIVITY_PROJECTIONS.map(({ projection, table }) => ({
    projection,
    schema: 'approvals',
    tables: [table],
  })),
];

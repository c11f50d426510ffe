import type { Projection } from '@runyard/persistence';
import { CATALOGUE_PROJECTION } from './catalogue.projection';
import { PEOPLE_PROJECTION } from './people.projection';

/** What `verify` needs to rebuild a projection of this service beside its live rows and compare them. */
export interface VerifiedProjection {
  projection: Projection;
  schema: string;
  tables: readonly string[];
  /** Read here, written by the other projection. */
  lookupTables?: readonly string[];
}

export const AGENT_REGISTRY_PROJECTIONS: readonly VerifiedProjection[] = [
  {
    projection: CATALOGUE_PROJECTION,
    schema: 'agent_registry',
    tables: ['catalogue_settings', 'allowed_models', 'tools', 'agents', 'agent_tools', 'agent_versions'],
    lookupTables: ['users', 'departed_users'],
  },
  {
    projection: PEOPLE_PROJECTION,
    schema: 'agent_registry',
    tables: ['organizations', 'users', 'departed_users', 'api_keys'],
  },
];
